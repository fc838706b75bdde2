"""Mate problems: reading and solving them, verifying lines, a table of the results by length.

A problem is a line: an sfen, also with `sfen` or `position sfen` before and `moves ...` after it, or three fields
separated by tabs: length in plies, sfen, a solution. Empty lines are skipped; `#` at the start of a line, or after a
space, begins a comment.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Lock
from typing import TYPE_CHECKING

from usi_engine.columns import padded
from usi_engine.core import Core, board_of
from usi_engine.language import _
from usi_engine.memory import check_free
from usi_engine.usi.output import escaped

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import MateSolver, StopToken

WIDTHS = (6, 10, 8, 9, 11, 12, 7, 9, 8, 13, 10)  # of the table's columns
QUOTED = 60  # characters of a text that a message shows


@dataclass(frozen=True)
class MateProblem:
    """A position; `length` is 0 if the file does not give it, `name` is its place in the file."""

    sfen: str
    length: int = 0
    name: str = ""


@dataclass(frozen=True)
class MateResult:
    """The result of a problem: `status` is the solver's, or `unreadable` with the reason in `fault`; `wrong` marks
    moves that do not mate.
    """

    problem: MateProblem
    status: str
    moves: list[str]
    nodes: int
    seconds: float
    wrong: bool = False
    fault: str = ""

    @property
    def length(self) -> int:
        """The length in plies that the file gives, or that of the mate found."""
        return self.problem.length or len(self.moves)


def read_problem(line: str, name: str = "") -> MateProblem | None:
    """Parse a line; None if it has no problem. ValueError, with the name, if the length is not a number."""
    text = line.partition(" #")[0].strip()
    if not text or text.startswith("#"):
        return None
    fields = text.split("\t")
    return MateProblem(fields[1], read_length(fields[0], name), name) if fields[1:] else MateProblem(text, name=name)


def read_length(text: str, name: str) -> int:
    """Parse the length of a mate in plies. ValueError."""
    try:
        return int(text)
    except ValueError:
        message = _("{name}: not a length in plies: '{text}'").format(name=name, text=escaped(text[:QUOTED]))
        raise ValueError(message) from None


def read_problems(lines: Iterable[str], name: str) -> Iterator[MateProblem]:
    """Yield the problems of a file. ValueError."""
    for number, line in enumerate(lines, 1):
        problem = read_problem(line, _("{name}, line {number}").format(name=name, number=number))
        if problem:
            yield problem


def looks_like_position(text: str) -> bool:
    """Return True if the text is meant as a position, not as files."""
    first = text.partition(" ")[0]
    return first in ("position", "sfen", "startpos") or first.count("/") == 8


def is_mate(board: Board, moves: list[str]) -> bool:
    """Return True if every move of the first side checks and the last check allows only futile interpositions."""
    end = after_checks(board, moves)
    if end is None:
        return False
    return all(answer[1] == "*" and is_futile(end, answer) for answer in end.legal_moves(include_all=True))


def after_checks(board: Board, moves: list[str]) -> Board | None:
    """Return the position after the line; None if a move of its first side gives no check or is not the last."""
    end = board.copy()
    for number, move in enumerate(moves):
        end.push(move)
        if number % 2 == 0 and not end.is_check():
            return None
    return end if len(moves) % 2 else None


def is_futile(board: Board, answer: str) -> bool:
    """Return True if a drop is a futile interposition: the attacker then mates in one, or by capturing the piece,
    whatever is interposed next.
    """
    board.push(answer)
    captures = [move for move in board.checking_moves(include_all=True) if move[2:4] == answer[2:4] and move[1] != "*"]
    found = board.mate_in_one() is not None or any(mates_after(board, move) for move in captures)
    board.pop()
    return found


def mates_after(board: Board, move: str) -> bool:
    """Return True if `move` mates, or allows only futile interpositions."""
    board.push(move)
    answers = board.legal_moves(include_all=True)
    mates = all(answer[1] == "*" and is_futile(board, answer) for answer in answers)
    board.pop()
    return mates


def table(results: list[MateResult]) -> Iterator[str]:
    """Yield a heading, a line for each length, and the totals."""
    titles = (_("length"), _("problems"), _("solved"), _("no mate"), _("undecided"), _("unreadable"), _("wrong"))
    yield cells_of(*titles, _("shorter"), _("longer"), _("nodes"), _("seconds"))
    for length in sorted({result.length for result in results}):
        yield row(str(length or "-"), [result for result in results if result.length == length])
    yield row(_("all"), results)


def cells_of(*texts: str) -> str:
    """Return one line of the table."""
    return "".join(padded(text, width) for text, width in zip(texts, WIDTHS, strict=True))


def row(title: str, results: list[MateResult]) -> str:
    """Return the counts of these results as a line of the table."""
    solved = [result for result in results if result.status == "mate"]
    unsolved = [sum(result.status == status for result in results) for status in ("nomate", "unknown", "unreadable")]
    wrong = sum(result.wrong for result in results)
    shorter = sum(len(result.moves) < result.length for result in solved)
    longer = sum(len(result.moves) > result.length for result in solved)
    nodes, seconds = sum(result.nodes for result in results), sum(result.seconds for result in results)
    counts = (len(results), len(solved), *unsolved, wrong, shorter, longer, nodes)
    return cells_of(title, *map(str, counts), f"{seconds:.3f}")


class ThreadShares:
    """Divides the threads among the solvers at work: one each while problems wait, all of them afterwards."""

    def __init__(self, threads: int, problems: int) -> None:
        self._threads, self._waiting = threads, problems
        self._at_work: list[MateSolver] = []
        self._lock = Lock()

    @contextmanager
    def for_problem(self, solver: MateSolver) -> Iterator[None]:
        """Count the solver as at work on the next problem."""
        self._change(self._at_work.append, solver, 1)
        try:
            yield
        finally:
            self._change(self._at_work.remove, solver, 0)

    def _change(self, change: Callable[[MateSolver], None], solver: MateSolver, begun: int) -> None:
        with self._lock:
            change(solver)
            self._waiting -= begun
            count = len(self._at_work)
            for number, each in enumerate(self._at_work):
                each.threads = 1 if self._waiting else (self._threads + number) // count


class Solvers:
    """Solvers with stop tokens for problems side by side; their tables share `hash` megabytes. MemoryError."""

    def __init__(self, core: Core, limits: argparse.Namespace, problems: int) -> None:
        check_free(limits.hash)
        self.count = min(limits.threads, problems, limits.hash)
        self._shares = ThreadShares(limits.threads, problems)
        self._core, self._limits = core, limits
        self._interrupted = Event()
        self._stops = [core.stop_token() for _solver in range(self.count)]
        self._idle = SimpleQueue[tuple["MateSolver", "StopToken"]]()
        for stop in self._stops:
            self._idle.put((core.mate_solver(limits.hash // self.count, stop), stop))

    def attempt(self, problem: MateProblem) -> MateResult:
        """Solve one problem with an idle solver and verify the mate."""
        begun = time.perf_counter()
        solver, stop = self._idle.get()
        try:
            with self._shares.for_problem(solver):
                board = board_of(self._core, problem.sfen)
                status, moves, nodes = self._solve(board, solver, stop)
            wrong = status == "mate" and not is_mate(board, moves)
            return MateResult(problem, status, moves, nodes, time.perf_counter() - begun, wrong)
        except ValueError as error:
            return MateResult(problem, "unreadable", [], 0, 0.0, fault=str(error))
        finally:
            self._idle.put((solver, stop))

    def _solve(self, board: Board, solver: MateSolver, stop: StopToken) -> tuple[str, list[str], int]:
        stop.clear()
        stop.set_in(self._limits.seconds)
        if self._interrupted.is_set():  # interrupt may have set the token before it was cleared
            return "unknown", [], 0
        solver.clear()  # the result must not depend on the problems that this solver had before
        status, moves = solver.solve(board, self._limits.nodes, "shortest" if self._limits.shortest else "shorter")
        return status, moves, solver.nodes

    def interrupt(self) -> None:
        """Stop all solvers for good. Any thread may call it."""
        self._interrupted.set()
        for stop in self._stops:
            stop.set()


def solve_all(core: Core, problems: list[MateProblem], limits: argparse.Namespace) -> Iterator[MateResult]:
    """Yield the results in the order of the problems, each as soon as it is known. MemoryError.

    The main thread only waits, because it gets Ctrl-C only while it runs Python code.
    """
    solvers = Solvers(core, limits, len(problems))
    with ThreadPoolExecutor(solvers.count) as pool:
        try:
            yield from pool.map(solvers.attempt, problems)
        finally:
            solvers.interrupt()
