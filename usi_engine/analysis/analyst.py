"""Search of single positions, each from a cleared state, so their order does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.analysis.judgement import Candidate, Evaluated
from usi_engine.analysis.limits import MOST_NODES, Limits
from usi_engine.api.engine import Engine
from usi_engine.api.results import Analysis, Watch
from usi_engine.search.report import Line

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class Wanted:
    """Number of lines, root moves to search (empty: all), factor of the limits (`effort`)."""

    lines: int = 1
    moves: tuple[str, ...] = ()
    effort: int = 1


class Analyst:
    """An engine that evaluates positions. WeightsError or MemoryError if the evaluation cannot be loaded."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._wanted = Wanted(limits.multipv)
        self._engine = Engine(limits.evaluation, threads=limits.threads, megabytes=limits.megabytes)

    def evaluate(self, board: Board, wanted: Wanted | None = None, *, watch: Watch | None = None) -> Evaluated:
        """Return the value and best lines of a position. KeyboardInterrupt stops the search.

        `watch` is called on another thread.
        """
        found = self._search(board, wanted or self._wanted, watch)
        score, milliseconds = found.score, int(found.time * 1000)
        others = tuple(Candidate(line.score.value, line.score.mate, line.pv) for line in found.lines[1:])
        return Evaluated(score.value, score.mate, found.depth, found.nodes, milliseconds, found.pv, others)

    def lines(self, board: Board, wanted: Wanted) -> tuple[Line, ...]:
        """Return the best moves with their lines, best first; empty if the game is over. Ctrl-C as in `evaluate`."""
        found = self._search(board, wanted, None).lines
        return tuple(Line(line.pv, line.score.value, line.depth, line.seldepth) for line in found)

    def _search(self, board: Board, wanted: Wanted, watch: Watch | None) -> Analysis:
        limits = self._limits
        self._engine.new_game()
        return self._engine.analyse(
            board,
            nodes=min(limits.nodes * wanted.effort, MOST_NODES) or None,
            time=limits.seconds * wanted.effort or None,
            multipv=wanted.lines,
            moves=wanted.moves or None,
            watch=watch,
        )
