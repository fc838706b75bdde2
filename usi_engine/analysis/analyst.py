"""Searches positions one by one, each from a cleared state, so that results do not depend on what came before."""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.analysis.judgement import Evaluated
from usi_engine.analysis.limits import Limits
from usi_engine.core import Core
from usi_engine.iterative import Search, SearchLimits
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.report import Line, Reporter, SearchResult, SearchStats
from usi_engine.search_control import SearchControl
from usi_engine.threads import ThreadPool
from usi_engine.timeman import TimeLimits

if TYPE_CHECKING:
    from core_ext.board import Board

# Seconds between two looks for Ctrl-C while another thread searches.
WATCH = 0.1


# Called after each iteration of a search.
Watch = Callable[[SearchResult], None]
# The result of a search and its milliseconds.
Searched = tuple[SearchResult, int]


@dataclass(frozen=True)
class Wanted:
    """The number of lines; the moves that are searched, all where none is named; `effort` multiplies the limits."""

    lines: int = 1
    moves: tuple[str, ...] = ()
    effort: int = 1


class Watched(Reporter):
    """Hands each iteration to `watch` and prints nothing."""

    def __init__(self, core: Core, watch: Watch) -> None:
        super().__init__(Writer(io.BytesIO()), core, 0, lambda: SearchStats(0, 0, 0))
        self._watch = watch

    def iteration(self, result: SearchResult) -> None:
        """Pass it on."""
        self._watch(result)

    def bound(self, line: Line, multipv: int) -> None:
        """Nothing."""


class Analyst:
    """Evaluates positions. WeightsError or MemoryError where the evaluation cannot be loaded."""

    def __init__(self, core: Core, limits: Limits) -> None:
        self._core, self._limits = core, limits
        self._stop = core.stop_token()
        self._options = Options()
        weights = core.load_weights(limits.evaluation, self._options.number("FV_SCALE"))
        self._pool = ThreadPool(core, self._stop, limits.megabytes, limits.threads, weights)

    def evaluate(self, board: Board, watch: Watch = lambda result: None) -> Evaluated:
        """The value and the best line of a position. KeyboardInterrupt stops the search within WATCH seconds.

        `watch` is called on another thread.
        """
        decided = self._decided(board)
        if decided:
            return decided
        result, milliseconds = self._interruptible(lambda: self._search(board, watch))
        best = result.best
        mate = self._core.in_plies(best.value)
        return Evaluated(best.value, mate, result.depth, self._pool.nodes, milliseconds, best.pv)

    def lines(self, board: Board, wanted: Wanted) -> tuple[Line, ...]:
        """The best moves with their lines, best first. Empty without a legal move. KeyboardInterrupt as `evaluate`."""
        if not board.legal_moves():
            return ()
        return self._interruptible(lambda: self._search(board, lambda result: None, wanted))[0].lines

    def _interruptible(self, search: Callable[[], Searched]) -> Searched:
        """The result of a search on another thread: the main thread must come back to Python for Ctrl-C to reach it."""
        self._stop.clear()
        with ThreadPoolExecutor(1) as runner:
            future = runner.submit(search)
            try:
                while not future.done():
                    wait([future], WATCH)
            except KeyboardInterrupt:
                self._stop.set()
                raise
            return future.result()

    def _decided(self, board: Board) -> Evaluated | None:
        """The result where the game is over by the rules: mate, repetition, or a position to declare a win in."""
        if not board.legal_moves(include_all=True):
            return Evaluated(-self._core.mate, 0, 0, 0, 0, ())
        if board.can_declare():
            return Evaluated(self._core.mate - 1, None, 0, 0, 0, ())
        values = {"draw": 0, "win": self._core.mate - 1, "lose": 1 - self._core.mate}
        repetition = board.repetition()
        return Evaluated(values[repetition], None, 0, 0, 0, ()) if repetition in values else None

    def _search(self, board: Board, watch: Watch, wanted: Wanted = Wanted()) -> Searched:
        pool, limits = self._pool, self._limits
        pool.new_game()
        root_moves = pool.set_root(board, wanted.moves or None, self._options)
        control = SearchControl(self._stop, TimeLimits(maximum=int(limits.seconds * 1000 * wanted.effort) or None))
        nodes = SearchLimits(self._core.max_depth, limits.nodes * wanted.effort, wanted.lines)
        result = Search(self._core, pool, control, nodes, Watched(self._core, watch)).run(board, root_moves)
        pool.join_helpers()
        return result, control.total
