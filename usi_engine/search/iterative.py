"""Iterative deepening with aspiration windows: the one loop of play, helper threads, self-play and bench."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.search.report import Line, Reporter, SearchResult, legal_part
from usi_engine.search.search_control import SearchControl
from usi_engine.search.threads import ThreadPool, best_thread
from usi_engine.search.timeman import TimeScale

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import RootLine, Worker

# Half-width of the first aspiration window in centipawns, and the depth from which windows are used.
WINDOW = 24
WINDOW_FROM_DEPTH = 5

# Called with depth, index of the line (multipv - 1), value and `lower` or `upper` after a search outside its window.
BoundReport = Callable[[int, int, int, str], None]


class Window:
    """An aspiration window around `guess`; a value outside widens it on that side, each time twice as far.

    A guess that is a mate value, or core.infinite, gives a full window. By `reduction` plies the next search is less
    deep: one for each value above the window in a row, as in Stockfish (a move that good shows at less depth, too).
    """

    def __init__(self, core: Core, guess: int) -> None:
        self._core = core
        self._step = WINDOW
        self.reduction = 0
        narrow = abs(guess) < core.mate_bound
        self.alpha = guess - WINDOW if narrow else -core.infinite
        self.beta = guess + WINDOW if narrow else core.infinite

    def widen(self, value: int) -> str:
        """Widen the window unless `value` lies inside. Returns the kind of bound: `exact`, `lower` or `upper`."""
        core = self._core
        if self.alpha < value < self.beta:
            return "exact"
        low = value <= self.alpha
        self._step *= 2
        self.reduction = 0 if low else self.reduction + 1
        if low:
            self.beta = min((self.alpha + self.beta) // 2 + 1, self.beta)
            self.alpha = -core.infinite if value <= -core.mate_bound else max(value - self._step, -core.infinite)
        else:
            self.beta = core.infinite if value >= core.mate_bound else min(value + self._step, core.infinite)
        return "upper" if low else "lower"


def iterative_deepening(
    core: Core,
    worker: Worker,
    max_depth: int,
    node_limit: int = 0,
    *,
    multipv: int = 1,
    aspiration: bool = True,
    on_bound: BoundReport | None = None,
) -> Iterator[int]:
    """Search the worker's root to depth 1, 2, 3 ..., yielding each depth when all its lines are finished.

    Ends after `max_depth`, or where the worker was stopped (`worker.stopped`); the caller may leave the loop earlier.
    Without `aspiration` every window is full.
    """
    for depth in range(1, max_depth + 1):
        for pv_index in range(multipv):
            narrow = aspiration and depth >= WINDOW_FROM_DEPTH
            window = Window(core, previous_value(core, worker, pv_index) if narrow else core.infinite)
            if not search_line(worker, window, depth, pv_index, node_limit=node_limit, on_bound=on_bound):
                return
        yield depth


def search_line(
    worker: Worker, window: Window, depth: int, pv_index: int, *, node_limit: int, on_bound: BoundReport | None
) -> bool:
    """Search the line of this index until its value lies in the window. False where the worker was stopped."""
    while True:
        value = worker.search(max(depth - window.reduction, 1), window.alpha, window.beta, pv_index, node_limit)
        if worker.stopped:
            return False
        bound = window.widen(value)
        if bound == "exact":
            return True
        if on_bound:
            on_bound(depth, pv_index, value, bound)


def previous_value(core: Core, worker: Worker, pv_index: int) -> int:
    """The value of this line in the iteration before."""
    root = worker.lines(pv_index + 1)[pv_index]
    # The search of the lines before it, in this iteration, may have reset the value.
    return root.value if root.value > -core.infinite else root.previous


@dataclass(frozen=True)
class SearchLimits:
    """What ends a search besides its clock; 0 = no node limit."""

    max_depth: int
    node_limit: int
    multipv: int


class Search:
    """One search of one position by a thread pool whose root is set."""

    def __init__(
        self, core: Core, pool: ThreadPool, control: SearchControl, limits: SearchLimits, reporter: Reporter
    ) -> None:
        self._core = core
        self._pool = pool
        self._control = control
        self._limits = limits
        self._node_share = pool.node_share(limits.node_limit)
        self._reporter = reporter
        self._time_scale = TimeScale(pool.last_move)

    def run(self, board: Board, root_moves: int) -> SearchResult:
        """Search until a limit, the clock or the stop token ends it. `board` is the root; it is not changed."""
        multipv = min(self._limits.multipv, root_moves)
        self._pool.start_helpers(self._helper)
        try:
            result = self._main_thread(board, multipv, root_moves == 1)
        finally:
            self._pool.stop_helpers()
        return self._best_thread(board, result)

    def _main_thread(self, board: Board, multipv: int, forced: bool) -> SearchResult:
        def on_bound(depth: int, pv_index: int, value: int, bound: str) -> None:
            root = main.lines(pv_index + 1)[pv_index]
            line = Line(legal_part(board, root.pv), value, depth, main.seldepth, bound)
            self._reporter.bound(line, pv_index + 1)

        main, result = self._pool.main, SearchResult(0, ())
        depths = iterative_deepening(
            self._core, main, self._limits.max_depth, self._node_share, multipv=multipv, on_bound=on_bound
        )
        for depth in depths:
            result = SearchResult(depth, self._lines(board, multipv, depth))
            self._reporter.iteration(result)
            if self._should_stop(result, forced):
                return result
        return self._interrupted(board, result) if main.stopped else result

    def _helper(self, worker: Worker) -> Iterator[SearchResult]:
        for depth in iterative_deepening(self._core, worker, self._limits.max_depth, self._node_share):
            best = worker.lines(1)[0]
            yield SearchResult(depth, (Line(tuple(best.pv), best.value, depth, best.seldepth),))

    def _should_stop(self, result: SearchResult, forced: bool) -> bool:
        optimum, brief = self._control.limits.optimum, self._control.limits.forced
        if optimum is None:
            return False
        main, best = self._pool.main, result.best
        self._time_scale.iteration_done(best.move, best.value, main.lines(1)[0].nodes / max(main.nodes, 1))
        valued = forced and brief is not None and self._control.elapsed >= brief
        if valued or self._is_proved(result):
            return self._control.try_stop(without_minimum=True)
        return self._time_scale.used_up(self._control.elapsed, optimum) and self._control.try_stop()

    def _is_proved(self, result: SearchResult) -> bool:
        """Whether the value is a mate no longer than the depth: deeper searches cannot find a shorter one."""
        plies = self._core.in_plies(result.best.value)
        return plies is not None and abs(plies) <= result.depth

    def _interrupted(self, board: Board, last: SearchResult) -> SearchResult:
        """The result where the depth after `last` was cut short: its lines if it has any, then the rest of `last`."""
        if not last.lines and not self._was_searched(self._pool.main.lines(1)[0]):
            self._pool.search_depth_one()
        count, depth = max(len(last.lines), 1), last.depth + 1
        best, *others = self._pool.main.lines(count)
        # A move above the window has no value while it is searched again: the one that put it there counts.
        value = max(best.value, best.previous) if best.bound == "lower" else best.value
        if value == -self._core.infinite or best.bound == "upper":
            return last if last.lines else self._unsearched(board)
        if best.bound == "lower" and last.lines and best.pv[0] == last.best.move:
            return last
        # Where the moves searched so far are mated, one that was not reached may be better, as the depth before says.
        if value <= -self._core.mate_bound and last.lines:
            return last
        exact = [root for root in others if self._was_searched(root) and root.bound == "exact"]
        first = replace(as_line(board, best, depth), value=value)
        new = best_first([first, *(as_line(board, root, depth) for root in exact)])
        moves = {line.move for line in new}
        return SearchResult(depth, (*new, *(line for line in last.lines if line.move not in moves))[:count])

    def _unsearched(self, board: Board) -> SearchResult:
        """A root move with the static value of the position, where not even the first one was searched to depth 1."""
        main = self._pool.main
        return SearchResult(1, (Line((main.lines(1)[0].pv[0],), dict(main.evaluate(board))["total"]),))

    def _was_searched(self, root: RootLine) -> bool:
        """In the depth that was cut short; what it did not reach has no value."""
        return root.value > -self._core.infinite

    def _best_thread(self, board: Board, result: SearchResult) -> SearchResult:
        """The result of the best thread; the main thread's where there are several lines or no helpers."""
        results = self._pool.helper_results()
        if not results or len(result.lines) != 1:
            return result
        chosen = best_thread([result, *results], self._core.mate_bound)
        if chosen.best.move == result.best.move:
            return result
        line = chosen.best
        return SearchResult(chosen.depth, (replace(line, pv=legal_part(board, line.pv)),))

    def _lines(self, board: Board, multipv: int, depth: int) -> tuple[Line, ...]:
        return best_first([as_line(board, root, depth) for root in self._pool.main.lines(multipv)])


def best_first(lines: list[Line]) -> tuple[Line, ...]:
    """Lines of one depth: a later one may be better than the first."""
    return tuple(sorted(lines, key=lambda line: -line.value))


def as_line(board: Board, root: RootLine, depth: int) -> Line:
    """A root line of the core with the legal part of its moves, its value taken as exact."""
    return Line(legal_part(board, root.pv), root.value, depth, root.seldepth)
