"""Mate problems: reading and solving them, verifying lines, a table of the results by length.

A problem is a line: an sfen, also with `sfen` or `position sfen` before and `moves ...` after it, or three fields
separated by tabs: length in plies, sfen, a solution. Empty lines are skipped; `#` at the start of a line, or after a
space, begins a comment.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Event, Lock

from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from usi_engine.api.mate_lines import is_mate
from usi_engine.api.second_solutions import CUSTOMARY, SecondSolution, SecondSolutionSearch
from usi_engine.columns import aligned
from usi_engine.core import board_of
from usi_engine.language import _
from usi_engine.memory import check_free
from usi_engine.progress import Progress
from usi_engine.usi.output import excerpt
from usi_engine.waiting import result_of

WIDTHS = (6, 10, 10, 9, 11, 12, 7, 9, 8, 13, 10, 10)  # of the table's columns


@dataclass(frozen=True)
class MateProblem:
    """A position; `length` is 0 and `solution` empty if the file does not give them, `name` is its place there."""

    sfen: str
    length: int = 0
    name: str = ""
    solution: tuple[str, ...] = ()


@dataclass(frozen=True)
class MateResult:
    """The result of a problem: `status` is the solver's, or `unreadable`. `fault`: what is wrong with the problem.

    `wrong` marks moves that do not mate. `others` are the second solutions, None if they were not looked for; `proved`
    is True if they were along the file's solution or a shortest mate.
    """

    problem: MateProblem
    status: str
    moves: list[str]
    nodes: int
    seconds: float
    wrong: bool = False
    fault: str = ""
    others: list[SecondSolution] | None = None
    proved: bool = True

    @property
    def solution(self) -> list[str]:
        """The line along which second solutions were looked for: the file's solution, or the moves found."""
        return list(self.problem.solution) or self.moves

    @property
    def is_unique(self) -> bool:
        """True if second solutions were looked for and all checks are decided as none."""
        return self.others is not None and all(other.kind in CUSTOMARY for other in self.others)

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
    if not fields[1:]:
        return MateProblem(text, name=name)
    return MateProblem(fields[1], read_length(fields[0], name), name, tuple(" ".join(fields[2:3]).split()))


def read_length(text: str, name: str) -> int:
    """Parse the length of a mate in plies. ValueError."""
    digits = text.strip()
    if digits.isascii() and digits.isdigit() and len(digits) < 5:
        return int(digits)
    raise ValueError(_("{name}: not a length in plies: '{text}'").format(name=name, text=excerpt(text)))


def read_problems(lines: Iterable[str], name: str) -> Iterator[MateProblem]:
    """Yield the problems of a file. ValueError."""
    for number, line in enumerate(lines, 1):
        problem = read_problem(line, _("{name}, line {number}").format(name=name, number=number))
        if problem:
            yield problem


def looks_like_position(text: str) -> bool:
    """Return True if the text is meant as a position, also one with a rank too few or too many, not as files."""
    first = text.partition(" ")[0]
    is_board = 7 <= first.count("/") <= 9 and not first.startswith("/") and "." not in first
    return is_board or first in ("position", "sfen", "startpos")


def table(results: list[MateResult]) -> Iterator[str]:
    """Yield a heading, a line for each length, and the totals; with a column `unique` if that was examined."""
    titles = [_("length"), _("problems"), _("solved"), _("no mate"), _("undecided"), _("unreadable"), _("wrong")]
    titles += [_("shorter"), _("longer"), _("nodes"), _("seconds"), _("unique")]
    examined = any(result.others is not None for result in results)
    rows = [titles]
    for length in sorted({result.length for result in results}):
        rows.append(row(str(length or "-"), [result for result in results if result.length == length]))
    rows.append(row(_("all"), results))
    for cells in rows:
        yield aligned(cells if examined else cells[:-1], WIDTHS)


def row(title: str, results: list[MateResult]) -> list[str]:
    """Return the counts of these results as the cells of a line of the table."""
    solved = [result for result in results if result.status == "mate"]
    unsolved = [sum(result.status == status for result in results) for status in ("nomate", "unknown", "unreadable")]
    wrong = sum(result.wrong for result in results)
    shorter = sum(len(result.moves) < result.length for result in solved)
    longer = sum(len(result.moves) > result.length for result in solved)
    nodes, seconds = sum(result.nodes for result in results), sum(result.seconds for result in results)
    counts = (len(results), len(solved), *unsolved, wrong, shorter, longer, nodes)
    return [title, *map(str, counts), f"{seconds:.3f}", str(sum(result.is_unique for result in results))]


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

    def __init__(self, limits: argparse.Namespace, problems: int) -> None:
        check_free(limits.hash)
        self.count = min(limits.threads, problems, limits.hash)
        self._shares = ThreadShares(limits.threads, problems)
        self._limits, self._is_only_problem = limits, problems == 1
        self._interrupted = Event()
        self._stops = [StopToken() for _solver in range(self.count)]
        self._idle = SimpleQueue[tuple[MateSolver, StopToken]]()
        for stop in self._stops:
            self._idle.put((MateSolver(limits.hash // self.count, stop), stop))

    def attempt(self, problem: MateProblem) -> MateResult:
        """Solve one problem with an idle solver and verify the mate."""
        begun = time.perf_counter()
        solver, stop = self._idle.get()
        try:
            with self._shares.for_problem(solver):
                return self._attempt(problem, solver, stop, begun)
        except ValueError as error:
            return MateResult(problem, "unreadable", [], 0, 0.0, fault=str(error))
        finally:
            self._idle.put((solver, stop))

    def _attempt(self, problem: MateProblem, solver: MateSolver, stop: StopToken, begun: float) -> MateResult:
        board = board_of(problem.sfen)
        status, moves, nodes = self._solve(problem, board, solver, stop)
        wrong = status == "mate" and not is_mate(board, moves)
        result = MateResult(problem, status, moves, nodes, time.perf_counter() - begun, wrong)
        if self._limits.all and status == "mate" and not wrong:
            result = self._examine(result, board, solver, stop)
        return replace(result, seconds=time.perf_counter() - begun)

    def _solve(
        self, problem: MateProblem, board: Board, solver: MateSolver, stop: StopToken
    ) -> tuple[str, list[str], int]:
        share = 2 if self._limits.all else 1  # the other half is for second solutions
        stop.clear()
        stop.set_in(self._limits.seconds / share)
        if self._interrupted.is_set():  # interrupt may have set the token before it was cleared
            return "unknown", [], 0
        solver.clear()  # the result must not depend on the problems that this solver had before
        aim = "shortest" if self._limits.all and not problem.solution else self._limits.aim
        nodes = self._limits.nodes and max(self._limits.nodes // share, 1)
        status, moves = solver.solve(board, nodes, aim)
        return status, moves, solver.nodes

    def _examine(self, result: MateResult, board: Board, solver: MateSolver, stop: StopToken) -> MateResult:
        """Look for second solutions along the file's solution or the line found."""
        proved = solver.proved_shortest or bool(result.problem.solution)
        stop.set_in(self._limits.seconds - result.seconds)
        try:
            search = SecondSolutionSearch(board, result.solution)
        except ValueError:
            text = excerpt(" ".join(result.solution))
            return replace(result, fault=_("the file's solution does not mate: '{moves}'").format(moves=text))
        limit = self._limits.nodes
        with Progress(_("checks"), search.total if self._is_only_problem else 0, every=0) as progress:
            for _decided in search.run(solver, stop, max(limit - result.nodes, 1) if limit else 0):
                progress.add()
        others = search.results()
        return replace(result, nodes=result.nodes + search.nodes, others=others, proved=proved)

    def interrupt(self) -> None:
        """Stop all solvers for good. Any thread may call it."""
        self._interrupted.set()
        for stop in self._stops:
            stop.set()


def solve_all(problems: list[MateProblem], limits: argparse.Namespace) -> Iterator[MateResult]:
    """Yield the results in the order of the problems, each as soon as it is known. MemoryError.

    The main thread only waits, because it gets Ctrl-C only while it runs Python code.
    """
    solvers = Solvers(limits, len(problems))
    with ThreadPoolExecutor(solvers.count) as pool:
        try:
            yield from map(result_of, [pool.submit(solvers.attempt, problem) for problem in problems])
        finally:
            solvers.interrupt()
