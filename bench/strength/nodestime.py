"""Player with the engine's time management on a clock that counts nodes, independent of the load of the machine."""

from dataclasses import dataclass, replace
from types import ModuleType

from core_ext.board import Board
from core_ext.engine import Evaluation, StopToken
from usi_engine.core import load_core
from usi_engine.search import timeman
from usi_engine.search.iterative import Search
from usi_engine.search.search_control import NoStop, SearchControl
from usi_engine.search.spec import spec_of
from usi_engine.search.threads import ThreadPool
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go, Times

TABLE_MEGABYTES = 16


@dataclass(frozen=True)
class NodeTime:
    """Main time and increment of each side in milliseconds, and the nodes that count as a millisecond."""

    main: int
    increment: int
    nodes: int = 50

    @classmethod
    def read(cls, text: str) -> "NodeTime":
        """Read `10000+100` or `10000+100/50`. Raises ValueError."""
        times, _, nodes = text.partition("/")
        main, _, increment = times.partition("+")
        if int(nodes or cls.nodes) < 1:
            raise ValueError(f"'{nodes}' nodes a millisecond")
        return cls(int(main), int(increment or 0), int(nodes or cls.nodes))


def time_constants() -> dict[str, tuple[ModuleType, float]]:
    """Return module and value of every constant of time management."""
    numbers = {name: value for name, value in vars(timeman).items() if isinstance(value, int | float)}
    return {name: (timeman, value) for name, value in numbers.items() if name.isupper()}


class NodeControl(SearchControl):
    """A control that counts time in nodes; a node limit ends its search."""

    def __init__(self, limits: timeman.TimeLimits, pool: ThreadPool, nodes: int) -> None:
        self._pool, self._nodes = pool, nodes
        super().__init__(NoStop(), limits)

    @property
    def elapsed(self) -> int:
        """Return the milliseconds of this move, counted in nodes."""
        return self._pool.nodes // self._nodes

    total = elapsed

    def try_stop(self, without_minimum: bool = False) -> bool:
        """Return True: this clock has no minimum time."""
        return True


class ClockPlayer:
    """Player with a clock. It never loses on time: after an overstep only increments are left."""

    def __init__(self, weights: Evaluation | None, time: NodeTime) -> None:
        self._core = load_core()
        self._time = time
        self._options = Options()
        self._pool = ThreadPool(self._core, StopToken(), TABLE_MEGABYTES, 1, weights)
        self._left = time.main

    def new_game(self) -> None:
        self._pool.new_game()
        self._left = self._time.main

    def think(self, board: Board) -> tuple[str, int]:
        """Return a move and its value in centipawns for the side to move; charge its time to the clock."""
        left, increment = self._left, self._time.increment
        go = Go(Times(btime=left, wtime=left, binc=increment, winc=increment))
        limits = timeman.time_limits(go, board.turn, board.ply, self._options)
        spec = spec_of(self._core, self._options, go, board, analysis=True)
        spec = replace(spec, nodes=(limits.maximum or 1) * self._time.nodes)
        control = NodeControl(limits, self._pool, self._time.nodes)
        moves = self._pool.set_root(board, None, spec.rules)
        result = Search(self._core, self._pool, control, spec).run(moves)
        self._left = max(left + increment - control.elapsed, 0)
        return result.best.move, result.best.value
