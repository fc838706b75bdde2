"""Info lines: what they say, in which order, and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from usi_engine.core import Core
from usi_engine.output import Writer

BOUND_WORDS = {"exact": "", "lower": " lowerbound", "upper": " upperbound"}
# A window that fails in the first moments of a search is news to nobody.
QUIET_BEFORE = 3000


@dataclass(frozen=True)
class Line:
    """One principal variation as it is reported."""

    pv: tuple[str, ...]
    value: int
    seldepth: int = 0
    bound: str = "exact"

    @property
    def move(self) -> str:
        """The root move."""
        return self.pv[0]


@dataclass(frozen=True)
class Count:
    """Where a search stands: all workers' nodes, milliseconds since its go, permille of the table in use."""

    nodes: int
    time: int
    hashfull: int

    def text(self) -> str:
        """The part of an info line between score and multipv."""
        speed = self.nodes * 1000 // max(self.time, 1)
        return f"nodes {self.nodes} nps {speed} hashfull {self.hashfull} time {self.time}"


def score_text(core: Core, value: int, bound: str = "exact") -> str:
    """`score cp X` or `score mate X`, with the bound's word behind it."""
    plies = core.in_plies(value)
    number = f"cp {value}" if plies is None else f"mate {plies}"
    return f"score {number}{BOUND_WORDS[bound]}"


class Reporter:
    """Prints the info lines of one go: all of them, or at most one set every `interval` ms; the last is never lost."""

    def __init__(self, writer: Writer, core: Core, interval: int, count: Callable[[], Count]) -> None:
        self._writer = writer
        self._core = core
        self._interval = interval
        self._count = count
        self._printed_at = 0
        self._waiting: list[str] = []

    def lines(self, depth: int, lines: Sequence[Line]) -> None:
        """The exact lines of a finished depth, best first."""
        count = self._count()
        self._waiting = [self._text(depth, line, number, count) for number, line in enumerate(lines, 1)]
        if count.time - self._printed_at >= self._interval:
            self._print(count.time)

    def bound(self, depth: int, line: Line, number: int) -> None:
        """A line whose value is only a bound so far."""
        count = self._count()
        due = self._interval == 0 or (count.time >= QUIET_BEFORE and count.time - self._printed_at >= self._interval)
        if due:
            self._printed_at = count.time
            self._writer.line(self._text(depth, line, number, count))

    def last(self, depth: int, lines: Sequence[Line]) -> list[str]:
        """What stands when the search ends, to be printed: multipv 1 comes last, right before bestmove."""
        count = self._count()
        texts = [self._text(depth, line, number, count) for number, line in enumerate(lines, 1)]
        self._waiting = []
        return texts[::-1]

    def _print(self, time: int) -> None:
        self._printed_at = time
        self._writer.lines(self._waiting)
        self._waiting = []

    def _text(self, depth: int, line: Line, number: int, count: Count) -> str:
        head = f"info depth {depth} seldepth {max(line.seldepth, depth)}"
        score = score_text(self._core, line.value, line.bound)
        return f"{head} {score} {count.text()} multipv {number} pv {' '.join(line.pv)}"
