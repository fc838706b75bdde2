"""`usi_engine mate WHAT`: finds mates in a position, in problems from a file or standard input, in game records."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from core_ext.board import Board
from usi_engine.api.mate_lines import is_mate
from usi_engine.api.second_solutions import Kind, SecondSolution
from usi_engine.core import board_of, exit_status, typed_board
from usi_engine.language import _, chosen
from usi_engine.mate_tool.problems import MateProblem, MateResult, looks_like_position, read_problems, solve_all, table
from usi_engine.progress import Progress
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import LARGEST_TEXT, decoded, format_of, text_of_file
from usi_engine.records.games import Game, games_of_text
from usi_engine.records.notation import name_moves
from usi_engine.records.position import HANDICAP_NAMES
from usi_engine.usi.arguments import Parser, whole
from usi_engine.usi.output import show

RECORDS = ("kif", "ki2", "csa", "jkf")


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine mate", description=_("Find mates."))
    add = made.add_argument
    what = _("a position, files of problems (an sfen a line) or game records, - for standard input")
    add("what", nargs="+", metavar="SFEN|FILE|-", help=what)
    add("--hash", type=whole(1), default=256, help=_("size of the proof tables in MB, all together (256)"))
    add("--threads", type=whole(1, 512), default=1, help=_("threads, for several problems or for a single one (1)"))
    add("--nodes", type=whole(0, 2**63 - 1), default=0, help=_("node limit per problem (0: none)"))
    add("--seconds", type=whole(1), default=60, help=_("time limit per problem (60)"))
    aim = made.add_mutually_exclusive_group()
    aim.add_argument("--first", dest="aim", action="store_const", const="first", help=_("take the first mate found"))
    shortest = _("search until the shortest mate is proved")
    aim.add_argument("--shortest", dest="aim", action="store_const", const="shortest", help=shortest)
    made.set_defaults(aim="short")
    add("--all", action="store_true", help=_("look for second solutions too, at every move of the attacker"))
    add("--japanese", action="store_true", help=_("write moves as ▲５二金打 too"))
    add("--summary", action="store_true", help=_("print only unsolved problems and the table"))
    return made


def gather_problems(words: list[str]) -> Iterator[MateProblem]:
    """Yield the problems that the arguments name. ValueError."""
    text = " ".join(words)
    if looks_like_position(text):
        typed_board(text)
        yield MateProblem(text)
        return
    for word in words:
        path = Path(word)
        text = decoded(sys.stdin.buffer.read(LARGEST_TEXT + 1)) if word == "-" else text_of_file(path)
        yield from problems_in(path, text)


def problems_in(path: Path, text: str) -> Iterator[MateProblem]:
    """Yield the problems of a file's text: one a line, or a position of each game record. RecordError, ValueError."""
    try:
        kind = format_of(path, text)
    except RecordError:
        kind = ""
    if kind not in RECORDS:
        yield from read_problems(text.splitlines(), path.name)
        return
    for game in games_of_text(path, text):
        if isinstance(game, RecordError):
            raise game
        yield make_problem(game)


def make_problem(game: Game) -> MateProblem:
    """Return a record's start, with its moves as the solution if they mate; but the last position if the start is the
    usual one or a handicap's.
    """
    if game.start not in HANDICAP_NAMES:
        mates = is_mate(game.board(0), list(game.moves))
        return MateProblem(game.start, name=game.name, solution=game.moves if mates else ())
    return MateProblem(" ".join([game.start, *(["moves", *game.moves] if game.moves else [])]), name=game.name)


def verdict(result: MateResult, position: Board | None) -> str:
    """Return the result in words, with the length of a mate or the reason why the problem could not be read."""
    if not position:
        return _("cannot be read: {reason}").format(reason=result.fault)
    if position.is_checkmate():
        return _("the side to move is mated")
    if result.status != "mate":
        return _("no mate") if result.status == "nomate" else _("undecided")
    return _("mate in {plies}").format(plies=len(result.moves)) + (_(", WRONG") if result.wrong else "")


def written(result: MateResult, moves: Sequence[str], ply: int, args: argparse.Namespace) -> list[str]:
    """Return moves after `ply` plies of the solution: in USI, or as ▲５二金打 in Japanese; with `--japanese` both."""
    board = board_of(result.problem.sfen)
    for move in result.solution[:ply]:
        board.push(move)
    usi, japanese = " ".join(moves), " ".join(move.text for move in name_moves(board, moves))
    if args.japanese:
        return [usi, japanese]
    return [japanese if chosen() == "ja" else usi]


def format_result(result: MateResult, args: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a result: name, verdict and moves; the position if it is not solved; second solutions."""
    name = result.problem.name
    moves, *japanese = written(result, result.moves, 0, args) if result.moves else [""]
    position = None if result.status == "unreadable" else board_of(result.problem.sfen)
    found = verdict(result, position)
    found = _("{verdict}: {moves}").format(verdict=found, moves=moves) if moves else found
    yield _("{place}: {reason}").format(place=name, reason=found) if name else found
    if result.status != "mate" and name:
        yield f"    {position.sfen() if position else result.problem.sfen}"
    yield from (f"    {line}" for line in japanese)
    if result.status == "mate" and result.fault:
        yield f"    {result.fault}"
    if result.others is not None:
        yield from lines_of_others(result, result.others, args)


def lines_of_others(result: MateResult, others: list[SecondSolution], args: argparse.Namespace) -> Iterator[str]:
    """Yield the solution if it is the file's own, a line for each other check, and the counts."""
    if result.solution != result.moves:
        moves, *japanese = written(result, result.solution, 0, args)
        yield "    " + _("the file's solution: {moves}").format(moves=moves)
        yield from (f"        {line}" for line in japanese)
    for other in others:
        moves, *japanese = written(result, other.moves, other.ply - 1, args)
        is_mate = other.kind is not Kind.UNDECIDED or other.moves[1:]
        text = _("ply {ply}: {kind}, mate in {plies}: {moves}") if is_mate else _("ply {ply}: {kind}: {moves}")
        kind, plies = word_for(other.kind), len(other.moves)
        yield "    " + text.format(ply=other.ply, kind=kind, plies=plies, moves=moves)
        yield from (f"        {line}" for line in japanese)
    yield "    " + summary(others)
    if not result.proved:
        yield "    " + _("these moves are not proved to be the shortest mate against the longest defence")


def word_for(kind: Kind) -> str:
    """Return the class of a second solution in the language of messages."""
    words = {
        Kind.SECOND: _("second solution"),
        Kind.LAST_MOVE: _("at the last move"),
        Kind.PROMOTION: _("promotion or not"),
        Kind.DISTANCE: _("distance of a slider"),
        Kind.ORDER: _("other order"),
        Kind.DETOUR: _("detour"),
        Kind.UNDECIDED: _("undecided"),
    }
    return words[kind]


def summary(others: list[SecondSolution]) -> str:
    """Return `unique` or the counts of second solutions, of exceptions by custom and of undecided checks."""
    second, undecided = (sum(other.kind is kind for other in others) for kind in (Kind.SECOND, Kind.UNDECIDED))
    customary = len(others) - second - undecided
    if second or undecided:
        text = _("{second} second solutions, {customary} exceptions by custom, {undecided} undecided")
        return text.format(second=second, customary=customary, undecided=undecided)
    return _("unique; {customary} exceptions by custom").format(customary=customary) if customary else _("unique")


def is_solved(result: MateResult) -> bool:
    """Return True if the line mates and no second solution or undecided check was found."""
    sound = result.status == "mate" and not result.wrong and not result.fault
    return sound and (result.others is None or result.is_unique)


def solve(problems: list[MateProblem], args: argparse.Namespace) -> list[MateResult]:
    """Solve all and print each result at once."""
    results = list[MateResult]()
    many = len(problems) > 1 and (args.summary or args.all)
    with Progress(_("mates"), len(problems) if many else 0, every=0) as progress:
        for result in solve_all(problems, args):
            results.append(result)
            if not args.summary or not is_solved(result):
                show(*format_result(result, args))
            progress.add()
    return results


def run(args: argparse.Namespace) -> int:
    """Solve the problems; return 1 if one is not solved."""
    problems = list(gather_problems(args.what))
    if not problems:
        raise ValueError(_("no problem in '{what}'").format(what=" ".join(args.what)))
    results = solve(problems, args)
    if len(results) > 1:
        print("\n".join(table(results)))
    return 0 if all(is_solved(result) for result in results) else 1


def main(words: list[str]) -> int:
    """Return 0 if every problem was solved, 1 if not, 2 if a file or an argument cannot be read, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    return exit_status(lambda: run(args), ValueError, stopped=_("interrupted"))
