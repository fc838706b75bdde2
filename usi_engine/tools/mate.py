"""`usi_engine mate FILE`: solves a file of mate problems and prints a table by length.

A line is an sfen, or three fields with tabs between: length in plies, sfen, a solution. Empty lines and lines that
begin with `#` are skipped.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from usi_engine.core import Core, CoreError, load_core

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import MateSolver, StopToken

BAR = 40


@dataclass(frozen=True)
class Problem:
    """A line of the file; `length` is 0 where the file does not say."""

    sfen: str
    length: int = 0


@dataclass(frozen=True)
class Outcome:
    """What the solver made of a problem."""

    problem: Problem
    status: str
    moves: list[str]
    nodes: int
    seconds: float
    wrong: bool = False

    @property
    def length(self) -> int:
        """The file's, else the line's."""
        return self.problem.length or len(self.moves)


def read_problem(line: str) -> Problem | None:
    """None for a line without a problem; ValueError where a length is no number."""
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    fields = text.split("\t")
    return Problem(fields[1], int(fields[0])) if len(fields) > 1 else Problem(text)


def read_problems(lines: Iterable[str]) -> Iterator[Problem]:
    """The problems of a file."""
    for line in lines:
        problem = read_problem(line)
        if problem:
            yield problem


def attempt(core: Core, solver: MateSolver, stop: StopToken, problem: Problem, limits: argparse.Namespace) -> Outcome:
    """Solve one problem; the line is played through."""
    begun = time.perf_counter()
    alarm = threading.Timer(limits.seconds, stop.set)
    try:
        board = core.board(problem.sfen)
    except ValueError:
        return Outcome(problem, "illegal", [], 0, 0.0)
    stop.clear()
    alarm.start()
    status, moves = solver.solve(board, limits.nodes, "shortest" if limits.shortest else "shorter")
    alarm.cancel()
    alarm.join()
    seconds = time.perf_counter() - begun
    return Outcome(problem, status, moves, solver.nodes, seconds, status == "mate" and not is_mate(core, board, moves))


def is_mate(core: Core, board: Board, moves: list[str]) -> bool:
    """Whether the line mates, if need be after a useless interposition: a drop that is taken with mate."""
    if mates_by_checks(board, moves):
        return True
    end = board.copy()
    for move in moves:
        end.push(move)
    return all(answer[1] == "*" and is_taken_with_mate(end, answer) for answer in end.legal_moves(include_all=True))


def mates_by_checks(board: Board, moves: list[str]) -> bool:
    """Whether the line ends in mate and every move of the side to move gives check on the way."""
    copy = board.copy()
    for number, move in enumerate(moves):
        copy.push(move)
        if number % 2 == 0 and not copy.is_check():
            return False
    return copy.is_check() and not copy.legal_moves(include_all=True)


def is_taken_with_mate(board: Board, answer: str) -> bool:
    """Whether the attacker mates at once or later by taking on the square of the drop, whatever is dropped next."""
    board.push(answer)
    takes = [move for move in board.checking_moves(include_all=True) if move[2:4] == answer[2:4] and move[1] != "*"]
    found = board.mate_in_one() is not None or any(mates_after(board, move) for move in takes)
    board.pop()
    return found


def mates_after(board: Board, move: str) -> bool:
    """Whether nothing but useless interpositions answers `move`."""
    board.push(move)
    answers = board.legal_moves(include_all=True)
    mates = all(answer[1] == "*" and is_taken_with_mate(board, answer) for answer in answers)
    board.pop()
    return mates


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """A line for each length, then the sum."""
    yield "length  count  solved  no mate  undecided  wrong  shorter  longer        nodes   seconds"
    for length in sorted({outcome.length for outcome in outcomes}):
        yield row(str(length or "-"), [outcome for outcome in outcomes if outcome.length == length])
    yield row("all", outcomes)


def row(title: str, outcomes: list[Outcome]) -> str:
    """One line of the table."""
    solved = [outcome for outcome in outcomes if outcome.status == "mate"]
    shorter = sum(len(outcome.moves) < outcome.length for outcome in solved)
    longer = sum(len(outcome.moves) > outcome.length for outcome in solved)
    refuted, unknown = (sum(outcome.status == status for outcome in outcomes) for status in ("nomate", "unknown"))
    wrong, nodes = sum(outcome.wrong for outcome in outcomes), sum(outcome.nodes for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return (f"{title:>6}{len(outcomes):>7}{len(solved):>8}{refuted:>9}{unknown:>11}{wrong:>7}{shorter:>9}{longer:>8}"
            f"{nodes:>13}{seconds:>10.3f}")  # fmt: skip


class Progress:
    """A bar on a terminal; nothing elsewhere."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total, self._stream = total, stream
        self._shown = stream.isatty()

    def show(self, done: int) -> None:
        """Draw the bar with so many problems done."""
        if self._shown:
            filled = BAR * done // max(self._total, 1)
            end = "\n" if done == self._total else ""
            self._stream.write(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {done}/{self._total}{end}")
            self._stream.flush()


def solve_all(core: Core, problems: list[Problem], limits: argparse.Namespace) -> list[Outcome]:
    """All outcomes in the file's order; what is unsolved, refused or wrong is named as it comes."""
    stop, outcomes = core.stop_token(), list[Outcome]()
    solver, progress = core.mate_solver(limits.hash, stop), Progress(len(problems), sys.stderr)
    for problem in problems:
        outcomes.append(attempt(core, solver, stop, problem, limits))
        progress.show(len(outcomes))
    return outcomes


def arguments_of(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="usi_engine mate", description="Solve a file of mate problems.")
    parser.add_argument("file", type=Path, help="an sfen a line, or length, sfen and solution with tabs between")
    parser.add_argument("--hash", type=int, default=256, help="megabytes of the table (256)")
    parser.add_argument("--nodes", type=int, default=0, help="limit for a problem (0: none)")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for a problem (60)")
    parser.add_argument("--shortest", action="store_true", help="go on until the shortest mate is proved")
    parser.add_argument("--lines", action="store_true", help="print each problem's answer")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Returns 0 where every problem was solved, 1 where not, 2 where the file cannot be read."""
    limits = arguments_of(words)
    try:
        problems = list(read_problems(limits.file.read_text(encoding="utf-8").splitlines()))
        outcomes = solve_all(load_core(), problems, limits)
    except (OSError, ValueError, CoreError, MemoryError) as error:
        print(error)
        return 2
    for outcome in outcomes:
        if limits.lines or outcome.status != "mate" or outcome.wrong:
            print(outcome.status, "WRONG" * outcome.wrong, outcome.problem.sfen, *outcome.moves)
    print("\n".join(table(outcomes)))
    return 0 if all(outcome.status == "mate" and not outcome.wrong for outcome in outcomes) else 1
