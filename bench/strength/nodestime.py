"""A player on a clock that counts nodes: the engine's time management, independent of the machine's load.

Its constants are those of usi_engine.search.timeman, by the names they have there.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from core_ext.board import BLACK, Board
from core_ext.engine import StopToken
from usi_engine.core import load_core
from usi_engine.search import timeman
from usi_engine.search.iterative import Search, SearchLimits
from usi_engine.search.report import Reporter, SearchStats
from usi_engine.search.search_control import SearchControl
from usi_engine.search.threads import ThreadPool
from usi_engine.usi.options import Options
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Go, Times

if TYPE_CHECKING:
    from core_ext.engine import Evaluation

TABLE_MEGABYTES = 16


@dataclass(frozen=True)
class NodeTime:
    """MAIN+INCREMENT milliseconds for each side, and the nodes that count as a millisecond."""

    main: int
    increment: int
    nodes: int = 50

    @classmethod
    def read(cls, text: str) -> NodeTime:
        """`10000+100` or `10000+100/50`. ValueError."""
        times, _, nodes = text.partition("/")
        main, _, increment = times.partition("+")
        if int(nodes or cls.nodes) < 1:
            raise ValueError(f"'{nodes}' nodes a millisecond")
        return cls(int(main), int(increment or 0), int(nodes or cls.nodes))


def time_constants() -> dict[str, tuple[ModuleType, float]]:
    """Module and value of every constant of time management."""
    return {
        name: (timeman, value)
        for name, value in vars(timeman).items()
        if name.isupper() and isinstance(value, int | float)
    }


class NodeControl:
    """The part of a SearchControl that Search uses, with time counted in nodes."""

    def __init__(self, limits: timeman.TimeLimits, pool: ThreadPool, nodes: int) -> None:
        self.limits = limits
        self._pool = pool
        self._nodes = nodes

    @property
    def elapsed(self) -> int:
        """Milliseconds of this move, in nodes."""
        return self._pool.nodes // self._nodes

    def try_stop(self, without_minimum: bool = False) -> bool:
        """Always True: this clock has no minimum time and no full seconds."""
        return True


class ClockPlayer:
    """A player and its clock. There is no loss on time: after a move that oversteps, only increments are left."""

    def __init__(self, weights: Evaluation | None, time: NodeTime) -> None:
        self._core: Any = load_core()
        self._time = time
        self._options = Options()
        self._pool = ThreadPool(self._core, StopToken(), TABLE_MEGABYTES, 1, weights)
        self._reporter = Reporter(Writer(io.BytesIO()), self._core, 0, lambda: SearchStats(0, 0, 0))
        self._left = time.main

    def new_game(self) -> None:
        """Clear table and histories; reset the clock."""
        self._pool.new_game()
        self._left = self._time.main

    def think(self, board: Board) -> tuple[str, int]:
        """A move and its value in centipawns, as in learn.selfplay.Player; its time is taken off the clock."""
        left, increment = self._left, self._time.increment
        go = Go(Times(btime=left, wtime=left, binc=increment, winc=increment))
        limits = timeman.time_limits(go, board.turn == BLACK, board.ply, self._options)
        moves = self._pool.set_root(board, None, self._options)
        control = NodeControl(limits, self._pool, self._time.nodes)
        search_limits = SearchLimits(self._core.max_depth, (limits.maximum or 1) * self._time.nodes, 1)
        search = Search(self._core, self._pool, cast(SearchControl, control), search_limits, self._reporter)
        result = search.run(board, moves)
        self._left = max(left + increment - control.elapsed, 0)
        return result.best.move, result.best.value
