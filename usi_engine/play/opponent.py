"""The player's opponent: searches, one after the other, on a thread of its own."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from core_ext.board import Board
from usi_engine.core import Core, load_core
from usi_engine.search.resources import Resources
from usi_engine.search.results import PlayResult
from usi_engine.search.search import chosen_move, search
from usi_engine.search.search_control import SearchControl
from usi_engine.search.spec import spec_of
from usi_engine.search.timeman import time_limits
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go
from usi_engine.waiting import result_of

HINT = Go(movetime=1000)


class Opponent:
    """The engine as an opponent that carries out one search at a time. `say` gets its messages to the user."""

    def __init__(self, say: Callable[[str], None], load: Callable[[], Core] = load_core) -> None:
        self._resources = Resources(Options(), say, load)
        self._thread = ThreadPoolExecutor(1, "engine")
        self._control: SearchControl | None = None  # of the last search that has begun
        self._asked = self._stopped = 0  # questions; the number of the last one that `stop` has ended

    def set(self, name: str, value: int | str) -> None:
        """Set an option before the first game. ValueError."""
        refusal = self._resources.options.set(name, str(value))
        if refusal:
            raise ValueError(refusal)

    def new_game(self) -> None:
        """Load the engine if needed and forget the previous game. CoreError, MemoryError."""
        result_of(self._thread.submit(self._resources.load))
        self.forget_game()

    def forget_game(self) -> None:
        """Forget the previous game; also allowed during a search."""
        self._thread.submit(self._resources.new_game)

    def think(self, board: Board, go: Go, level: int) -> PlayResult:
        """Search a position at this level. KeyboardInterrupt ends the search."""
        try:
            return result_of(self.ask(board, go, level))
        except KeyboardInterrupt:
            self.stop()
            raise

    def ask(self, board: Board, go: Go, level: int) -> Future[PlayResult]:
        """Queue the search of a position at this level."""
        self._asked += 1
        return self._thread.submit(self._search, self._asked, time.perf_counter(), board.copy(), go, level)

    def stop(self) -> None:
        """Stop the queued searches; each still gets its answer."""
        self._stopped = self._asked
        if self._control:
            self._control.stop()

    def close(self) -> None:
        """Stop all searches and end the thread."""
        self.stop()
        self._thread.shutdown()

    def _search(self, number: int, begun: float, board: Board, go: Go, level: int) -> PlayResult:
        resources, options = self._resources, self._resources.options
        resources.load_in_play()
        options.set("SkillLevel", str(level))
        resources.stop.clear()
        limits = time_limits(go, board.turn, board.ply, options)
        self._control = control = SearchControl(resources.stop, limits, begun=begun)
        if number <= self._stopped:
            control.stop()
        spec = spec_of(options, go, board)
        try:
            return chosen_move(spec, control, search(resources, spec, control))
        finally:
            resources.wait_for_helpers()
