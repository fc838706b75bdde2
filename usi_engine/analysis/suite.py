"""`usi_engine suite FILE`: search positions with known best moves; report depth and time of each find.

A line has a position and its solution in one of these forms; a line that begins with `#` is a comment:

    sfen<TAB>move                   further moves after spaces or `|`, further columns: the third is the name
    sfen bm MOVE ...; id "name";    as in EPD; `am MOVE ...` names moves to avoid
    sfen MOVE                       with or without `sfen` or `position sfen` before, `startpos moves ... bm MOVE` too
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core_ext.board import Board
from usi_engine.analysis.analyst import Analyst, add_limits, in_words, read_limits
from usi_engine.columns import aligned
from usi_engine.core import board_of, exit_status
from usi_engine.evaluation.names import WeightsError
from usi_engine.language import _
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import text_of_file
from usi_engine.records.usi_text import MOVE
from usi_engine.search.results import Analysis
from usi_engine.usi.arguments import Parser
from usi_engine.usi.output import show

DEFAULT_NODES = 1_000_000
WIDTHS = (5, 7, 7, 9, 12, -9, -15, -1)  # of the table's columns
EPD = re.compile(r"^(?P<position>.+?)\s+(?P<code>bm|am)\s+(?P<moves>[^;]+);?(?P<rest>.*)$")
NAME = re.compile(r"\bid\s+\"?([^\";]+)")


class SuiteError(ValueError):
    """A line without a valid problem; the text quotes it."""


@dataclass(frozen=True)
class Problem:
    """A position, the moves that solve it (with `avoid`: that do not solve it), and a name."""

    board: Board
    moves: tuple[str, ...]
    avoid: bool = False
    name: str = ""

    def solved_by(self, move: str) -> bool:
        """Return True if the move is right."""
        return (move in self.moves) != self.avoid

    @property
    def wanted(self) -> str:
        """The moves as text."""
        return (_("not ") if self.avoid else "") + " ".join(self.moves)


@dataclass(frozen=True)
class Attempt:
    """The move that a search chose, and the depth and time from which a right one was chosen; 0 if wrong."""

    problem: Problem
    move: str
    depth: int
    seconds: float
    nodes: int

    @property
    def found(self) -> bool:
        """True if the chosen move is right."""
        return self.problem.solved_by(self.move)


def read_problem(line: str) -> Problem | None:
    """Parse a line; None if it has no problem. SuiteError."""
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    position, moves, avoid, name = split_fields(text)
    try:
        board = board_of(position)
    except ValueError as error:
        raise SuiteError(str(error)) from None
    if not moves:
        raise SuiteError(_("no move to find: '{text}'").format(text=text[:60]))
    for move in moves:
        if not board.is_legal(move):
            raise SuiteError(_("illegal move: '{move}'").format(move=move[:20]))
    return Problem(board, moves, avoid, name)


def split_fields(text: str) -> tuple[str, tuple[str, ...], bool, str]:
    """Return position, moves, True if they are to be avoided, name."""
    if "\t" in text:
        position, moves, *rest = text.split("\t")
        return position, tuple(moves.replace("|", " ").split()), False, rest[0] if rest else ""
    epd = EPD.match(text)
    if epd:
        name = NAME.search(epd["rest"])
        return epd["position"], tuple(epd["moves"].split()), epd["code"] == "am", name[1].strip() if name else ""
    words = text.split()
    count = next((at for at, word in enumerate(reversed(words)) if not MOVE.fullmatch(word)), len(words))
    return " ".join(words[: len(words) - count]), tuple(words[len(words) - count :]), False, ""


def read_problems(path: Path) -> list[Problem]:
    """Read all problems of a file. SuiteError with file and line; RecordError."""
    found = []
    for number, line in enumerate(text_of_file(path).splitlines(), 1):
        try:
            problem = read_problem(line)
        except SuiteError as error:
            raise SuiteError(
                _("{path}, line {number}: {error}").format(path=path, number=number, error=error)
            ) from None
        if problem is not None:
            found.append(problem)
    if not found:
        raise SuiteError(_("{path}: the file holds no position").format(path=path))
    return found


def attempt(analyst: Analyst, problem: Problem) -> Attempt:
    """Search one position."""
    depth, seconds = 0, 0.0  # since which the choice of the search has been right

    def watch(found: Analysis) -> None:
        nonlocal depth, seconds
        if not problem.solved_by(found.move or ""):
            depth, seconds = 0, 0.0
        elif not depth:
            depth, seconds = found.depth, found.time

    result = analyst.evaluate(problem.board, watch=watch)
    move = result.pv[0] if result.pv else ""
    # The last iteration may have been interrupted with another choice.
    if problem.solved_by(move) and not depth:
        depth, seconds = result.depth, result.time
    return Attempt(problem, move, depth, seconds, result.nodes)


def row(number: int, done: Attempt) -> str:
    """Return one line of the table."""
    found = (_("yes"), str(done.depth), f"{done.seconds:.2f}") if done.found else (_("no"), "", "")
    cells = [str(number), *found, str(done.nodes), f"  {done.move}", done.problem.wanted, done.problem.name]
    return aligned(cells, WIDTHS)


def summary(done: Sequence[Attempt], limit: str) -> str:
    """Return the last line."""
    right = [attempt for attempt in done if attempt.found]
    text = _("{right} of {all} found, {share:.1f} %, at {limit} a position")
    text = text.format(right=len(right), all=len(done), share=100 * len(right) / len(done), limit=limit)
    if not right:
        return text
    depth, seconds = (sum(values) / len(right) for values in ([a.depth for a in right], [a.seconds for a in right]))
    average = _("; found at depth {depth:.1f}, after {seconds:.2f} s on average")
    return text + average.format(depth=depth, seconds=seconds)


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine suite", description=_("Search positions whose best move is known."))
    made.add_argument("file", type=Path, help=_("sfen<TAB>move, sfen bm MOVE;, or sfen MOVE on each line"))
    add_limits(made, DEFAULT_NODES)
    return made


def run(args: argparse.Namespace) -> int:
    """Print the table and the summary; return 0. SuiteError, RecordError and the errors of Analyst."""
    limits, done = read_limits(args), list[Attempt]()
    problems = read_problems(args.file)
    print(_("{count} positions, {limit} each").format(count=len(problems), limit=in_words(limits)))
    titles = (_("found"), _("depth"), _("seconds"), _("nodes"), _("  move"), _("wanted"), _("name"))
    print(aligned(["#", *titles], WIDTHS))
    analyst = Analyst(limits)
    for number, problem in enumerate(problems, 1):
        done.append(attempt(analyst, problem))
        show(row(number, done[-1]))
    print(summary(done, in_words(limits)))
    return 0


def main(words: list[str]) -> int:
    """Return 0, 2 if the file cannot be read, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    return exit_status(lambda: run(args), RecordError, SuiteError, WeightsError)
