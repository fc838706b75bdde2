"""Search of single positions, each from a cleared state, so their order does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.analysis.limits import MOST_NODES, Limits
from usi_engine.api.engine import Engine
from usi_engine.api.results import Analysis, Watch

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

    def evaluate(self, board: Board, wanted: Wanted | None = None, *, watch: Watch | None = None) -> Analysis:
        """Return the value and best lines of a position. KeyboardInterrupt stops the search.

        `watch` is called on another thread.
        """
        limits, wanted = self._limits, wanted or self._wanted
        self._engine.new_game()
        return self._engine.analyse(
            board,
            nodes=min(limits.nodes * wanted.effort, MOST_NODES) or None,
            time=limits.seconds * wanted.effort or None,
            multipv=wanted.lines,
            moves=wanted.moves or None,
            watch=watch,
        )
