"""Searches positions one by one, each from a cleared state, so that results do not depend on what came before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from usi_engine.analysis.judgement import Evaluated
from usi_engine.analysis.limits import Limits
from usi_engine.engine import Engine, Watch

if TYPE_CHECKING:
    from core_ext.board import Board


class Analyst:
    """Evaluates positions. WeightsError or MemoryError where the evaluation cannot be loaded."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine = Engine(limits.evaluation, threads=limits.threads, megabytes=limits.megabytes)

    def evaluate(self, board: Board, watch: Watch | None = None) -> Evaluated:
        """The value and the best line of a position. KeyboardInterrupt stops the search.

        `watch` is called on another thread.
        """
        limits = self._limits
        self._engine.new_game()
        found = self._engine.analyse(board, nodes=limits.nodes or None, time=limits.seconds or None, watch=watch)
        milliseconds = int(found.time * 1000)
        return Evaluated(found.score.value, found.score.mate, found.depth, found.nodes, milliseconds, found.pv)
