"""Results of a search, and the info lines that report them: text, order, how often they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.usi.output import Writer

if TYPE_CHECKING:
    from core_ext.board import Board

BOUND_WORDS = {"exact": "", "lower": " lowerbound", "upper": " upperbound"}
# Milliseconds of a search before which bounds are not printed.
FIRST_BOUND_TIME = 3000
# An interval in which no iteration is printed.
NEVER = 1 << 62


@dataclass(frozen=True)
class Line:
    """A principal variation: legal moves, value in centipawns for the side to move, depth of the iteration that it is
    of, greatest ply reached, bound.
    """

    pv: tuple[str, ...]
    value: int
    depth: int = 1
    seldepth: int = 0
    bound: str = "exact"

    @property
    def move(self) -> str:
        """The root move."""
        return self.pv[0]


@dataclass(frozen=True)
class SearchResult:
    """The lines of the last iteration, best first.

    Where the iteration was cut short, the lines that it did not reach are those of the one before.
    """

    depth: int
    lines: tuple[Line, ...]

    @property
    def best(self) -> Line:
        """The first line."""
        return self.lines[0]


@dataclass(frozen=True)
class SearchStats:
    """Nodes of all workers, milliseconds since the go, permille of the table in use."""

    nodes: int
    time: int
    hashfull: int

    def text(self) -> str:
        """The part of an info line between score and multipv."""
        speed = self.nodes * 1000 // max(self.time, 1)
        return f"nodes {self.nodes} nps {speed} hashfull {self.hashfull} time {self.time}"


def legal_part(board: Board, moves: Sequence[str]) -> tuple[str, ...]:
    """The moves before the first that is not legal. `board` is not changed."""
    copy = board.copy()
    for count, move in enumerate(moves):
        try:
            copy.push(move)
        except ValueError:
            return tuple(moves[:count])
    return tuple(moves)


def score_text(core: Core, value: int, bound: str = "exact") -> str:
    """`score cp X` or `score mate X`, followed by `lowerbound` or `upperbound` where it is one.

    What is won by rule, not by mate, is shown as the greatest evaluation.
    """
    plies, most = core.in_plies(value), core.max_evaluation
    number = f"cp {max(min(value, most), -most)}" if plies is None else f"mate {plies}"
    return f"score {number}{BOUND_WORDS[bound]}"


def lost_line(stats: SearchStats) -> str:
    """The info line of a side without a legal move: it has lost. USI has no mate in 0 plies; -1 comes nearest."""
    return f"info depth 0 seldepth 0 score mate -1 {stats.text()}"


def won_line(core: Core, stats: SearchStats) -> str:
    """The info line of a side that wins by declaration: the highest value, as there is no move to name for a mate."""
    return f"info depth 0 seldepth 0 score cp {core.max_evaluation} {stats.text()}"


def info_line(core: Core, line: Line, stats: SearchStats, multipv: int = 1) -> str:
    """The info line of one principal variation."""
    head = f"info depth {line.depth} seldepth {max(line.seldepth, line.depth)}"
    score = score_text(core, line.value, line.bound)
    return f"{head} {score} {stats.text()} multipv {multipv} pv {' '.join(line.pv)}"


class Reporter:
    """Prints the info lines of one go: at most one iteration's in `interval` ms; 0: every iteration's."""

    def __init__(self, writer: Writer, core: Core, interval: int, stats: Callable[[], SearchStats]) -> None:
        self._writer = writer
        self._core = core
        self._interval = interval
        self._stats = stats
        self._printed_at = 0

    def iteration(self, result: SearchResult) -> None:
        """Print the lines of a finished iteration, if they are due."""
        stats = self._stats()
        if stats.time - self._printed_at >= self._interval:
            self._printed_at = stats.time
            self._writer.lines(self._texts(result, stats))

    def bound(self, line: Line, multipv: int) -> None:
        """Print a line whose value fell outside the aspiration window and is only a bound, if it is due."""
        stats = self._stats()
        due = stats.time >= FIRST_BOUND_TIME and stats.time - self._printed_at >= self._interval
        if due or self._interval == 0:
            self._printed_at = stats.time
            self._writer.line(info_line(self._core, line, stats, multipv))

    def final(self, result: SearchResult) -> list[str]:
        """The lines to print before bestmove, multipv 1 last."""
        return self._texts(result, self._stats())[::-1]

    def _texts(self, result: SearchResult, stats: SearchStats) -> list[str]:
        return [info_line(self._core, line, stats, n) for n, line in enumerate(result.lines, 1)]
