"""Results of a search and the info lines that report them: their form, their order, and how often they are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.output import Writer

if TYPE_CHECKING:
    from core_ext.board import Board

BOUND_WORDS = {"exact": "", "lower": " lowerbound", "upper": " upperbound"}
# Bounds are not printed in the first milliseconds of a search.
FIRST_BOUND_TIME = 3000


@dataclass(frozen=True)
class Line:
    """A principal variation: legal moves, value in centipawns for the side to move, greatest ply reached, bound."""

    pv: tuple[str, ...]
    value: int
    seldepth: int = 0
    bound: str = "exact"

    @property
    def move(self) -> str:
        """The root move."""
        return self.pv[0]


@dataclass(frozen=True)
class SearchResult:
    """The lines of the last iteration, best first; none where not even depth 1 was finished."""

    depth: int
    lines: tuple[Line, ...]

    @property
    def best(self) -> Line:
        """The first line. IndexError where there is none."""
        return self.lines[0]


@dataclass(frozen=True)
class Count:
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
    """`score cp X` or `score mate X`, followed by `lowerbound` or `upperbound` where it is one."""
    plies = core.in_plies(value)
    number = f"cp {value}" if plies is None else f"mate {plies}"
    return f"score {number}{BOUND_WORDS[bound]}"


def info_line(core: Core, depth: int, line: Line, count: Count, multipv: int = 1) -> str:
    """The info line of one principal variation."""
    head = f"info depth {depth} seldepth {max(line.seldepth, depth)}"
    score = score_text(core, line.value, line.bound)
    return f"{head} {score} {count.text()} multipv {multipv} pv {' '.join(line.pv)}"


class Reporter:
    """Prints the info lines of one go: those of every iteration, or at most one set in `interval` ms."""

    def __init__(self, writer: Writer, core: Core, interval: int, count: Callable[[], Count]) -> None:
        self._writer = writer
        self._core = core
        self._interval = interval
        self._count = count
        self._printed_at = 0

    def iteration(self, result: SearchResult) -> None:
        """A finished iteration."""
        count = self._count()
        if count.time - self._printed_at >= self._interval:
            self._printed_at = count.time
            self._writer.lines(self._texts(result, count))

    def bound(self, depth: int, line: Line, multipv: int) -> None:
        """A line outside the aspiration window, whose value is only a bound so far."""
        count = self._count()
        due = count.time >= FIRST_BOUND_TIME and count.time - self._printed_at >= self._interval
        if due or self._interval == 0:
            self._printed_at = count.time
            self._writer.line(info_line(self._core, depth, line, count, multipv))

    def final(self, result: SearchResult) -> list[str]:
        """The lines to print before bestmove, multipv 1 last."""
        return self._texts(result, self._count())[::-1]

    def _texts(self, result: SearchResult, count: Count) -> list[str]:
        return [info_line(self._core, result.depth, line, count, n) for n, line in enumerate(result.lines, 1)]
