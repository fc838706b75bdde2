"""Results of a search, and the info lines that report them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from usi_engine.core import Core
from usi_engine.usi.output import Writer

BOUND_WORDS = {"exact": "", "lower": " lowerbound", "upper": " upperbound"}
# No bound is printed before this many milliseconds, unless all are (PvInterval 0).
FIRST_BOUND_TIME = 3000
# Interval that prints no iteration.
NEVER = 1 << 62


@dataclass(frozen=True)
class Line:
    """A principal variation: legal moves, value in centipawns for the side to move, depth of its iteration, greatest
    ply reached, bound.
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

    If it was cut short, lines that it did not reach come from the iteration before.
    """

    depth: int
    lines: tuple[Line, ...]

    @property
    def best(self) -> Line:
        """The first line."""
        return self.lines[0]


@dataclass(frozen=True)
class SearchStats:
    """Nodes of all workers, milliseconds since the go, permille of the TT in use."""

    nodes: int
    time: int
    hashfull: int

    def text(self) -> str:
        """Return the part of an info line between score and multipv."""
        speed = self.nodes * 1000 // max(self.time, 1)
        return f"nodes {self.nodes} nps {speed} hashfull {self.hashfull} time {self.time}"


def score_text(core: Core, value: int, bound: str = "exact") -> str:
    """Return `score cp X` or `score mate X`, followed by `lowerbound` or `upperbound` if it is one.

    A win by rule, not by mate, is shown as the greatest evaluation.
    """
    plies, most = core.in_plies(value), core.max_evaluation
    number = f"cp {max(min(value, most), -most)}" if plies is None else f"mate {plies}"
    return f"score {number}{BOUND_WORDS[bound]}"


def lost_line(stats: SearchStats) -> str:
    """Return the info line of a side without a legal move. USI has no mate in 0 plies; -1 is nearest."""
    return f"info depth 0 seldepth 0 score mate -1 {stats.text()}"


def won_line(core: Core, stats: SearchStats) -> str:
    """Return the info line of a win by declaration: the greatest evaluation, because a mate would need a move."""
    return f"info depth 0 seldepth 0 score cp {core.max_evaluation} {stats.text()}"


def info_line(core: Core, line: Line, stats: SearchStats, multipv: int = 1) -> str:
    """Return the info line of one principal variation."""
    head = f"info depth {line.depth} seldepth {max(line.seldepth, line.depth)}"
    score = score_text(core, line.value, line.bound)
    return f"{head} {score} {stats.text()} multipv {multipv} pv {' '.join(line.pv)}"


class Reporter:
    """A printer of the info lines of one go: at most one iteration per `interval` milliseconds, all if it is 0."""

    def __init__(self, writer: Writer, core: Core, interval: int, stats: Callable[[], SearchStats]) -> None:
        self._writer = writer
        self._core = core
        self._interval = interval
        self._stats = stats
        self._printed_at = 0

    def iteration(self, result: SearchResult) -> None:
        """Print the lines of a finished iteration if they are due."""
        stats = self._stats()
        if stats.time - self._printed_at >= self._interval:
            self._printed_at = stats.time
            self._writer.lines(self._texts(result, stats))

    def bound(self, line: Line, multipv: int) -> None:
        """Print a fail high or fail low if it is due."""
        stats = self._stats()
        due = stats.time >= FIRST_BOUND_TIME and stats.time - self._printed_at >= self._interval
        if due or self._interval == 0:
            self._printed_at = stats.time
            self._writer.line(info_line(self._core, line, stats, multipv))

    def final(self, result: SearchResult) -> list[str]:
        """Return the lines to print before bestmove, multipv 1 last."""
        return self._texts(result, self._stats())[::-1]

    def _texts(self, result: SearchResult, stats: SearchStats) -> list[str]:
        return [info_line(self._core, line, stats, n) for n, line in enumerate(result.lines, 1)]
