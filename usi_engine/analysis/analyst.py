"""Search of single positions, each from a cleared state, so their order does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from usi_engine.analysis.limits import Limits, with_effort
from usi_engine.api.engine import Engine
from usi_engine.api.results import Analysis, Watch

if TYPE_CHECKING:
    from core_ext.board import Board


class Analyst:
    """An engine that evaluates positions. WeightsError or MemoryError if the evaluation cannot be loaded."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine = Engine(limits.evaluation, threads=limits.threads, megabytes=limits.megabytes)

    def evaluate(
        self, board: Board, lines: int = 0, moves: Sequence[str] = (), *, effort: int = 1, watch: Watch | None = None
    ) -> Analysis:
        """Return the value and best lines of a position. KeyboardInterrupt stops the search.

        `lines`: their number, 0 for that of the limits; `moves`: the root moves to search, empty for all; `effort`: the
        factor of the limits. `watch` is called on another thread.
        """
        limits = with_effort(self._limits, effort, lines or self._limits.multipv)
        self._engine.new_game()
        return self._engine.analyse(
            board,
            nodes=limits.nodes or None,
            time=limits.seconds or None,
            multipv=limits.multipv,
            moves=moves or None,
            watch=watch,
        )
