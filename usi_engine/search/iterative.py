"""Iterative deepening with aspiration windows, the loop of play, helper threads, self-play and bench."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from usi_engine.core import RootLine, Worker
from usi_engine.search.results import Analysis, Score, Variation
from usi_engine.search.search_control import SearchControl
from usi_engine.search.spec import Spec
from usi_engine.search.threads import ThreadPool, best_thread
from usi_engine.search.timeman import TimeScale
from usi_engine.usi.info import INFINITE, MATE_BOUND

# Half the width of the first aspiration window, in centipawns; full windows are used before this depth.
WINDOW = 24
WINDOW_FROM_DEPTH = 5

# Called with depth, index of the line (multipv - 1), value and `lower` or `upper` after a fail high or fail low.
BoundReport = Callable[[int, int, int, str], None]


class Window:
    """An aspiration window around `guess`. A fail high or fail low widens it on that side, each time twice as far.

    A mate value or INFINITE as guess gives a full window. `reduction`: plies to take off the next search, one for
    each fail high in a row, as in Stockfish.
    """

    def __init__(self, guess: int) -> None:
        self._step = WINDOW
        self.reduction = 0
        narrow = abs(guess) < MATE_BOUND
        self.alpha = guess - WINDOW if narrow else -INFINITE
        self.beta = guess + WINDOW if narrow else INFINITE

    def widen(self, value: int) -> str:
        """Widen the window unless `value` lies inside; return the kind of bound: `exact`, `lower` or `upper`."""
        if self.alpha < value < self.beta:
            return "exact"
        low = value <= self.alpha
        self._step *= 2
        self.reduction = 0 if low else self.reduction + 1
        if low:
            self.beta = (self.alpha + self.beta) // 2 + 1
            self.alpha = -INFINITE if value <= -MATE_BOUND else max(value - self._step, -INFINITE)
        else:
            self.beta = INFINITE if value >= MATE_BOUND else min(value + self._step, INFINITE)
        return "upper" if low else "lower"


def iterative_deepening(
    worker: Worker,
    max_depth: int,
    node_limit: int = 0,
    *,
    multipv: int = 1,
    aspiration: bool = True,
    on_bound: BoundReport | None = None,
) -> Iterator[int]:
    """Search the worker's root to depth 1, 2, 3, ...; yield each depth when all its lines are finished.

    It ends after `max_depth` or if `worker.stopped`. Without `aspiration` every window is full.
    """
    for depth in range(1, max_depth + 1):
        for pv_index in range(multipv):
            narrow = aspiration and depth >= WINDOW_FROM_DEPTH
            window = Window(previous_value(worker, pv_index) if narrow else INFINITE)
            if not search_line(worker, window, depth, pv_index, node_limit=node_limit, on_bound=on_bound):
                return
        yield depth


def search_line(
    worker: Worker, window: Window, depth: int, pv_index: int, *, node_limit: int, on_bound: BoundReport | None
) -> bool:
    """Search one line until its value lies in the window. False if the worker was stopped."""
    while True:
        value = worker.search(max(depth - window.reduction, 1), window.alpha, window.beta, pv_index, node_limit)
        if worker.stopped:
            return False
        bound = window.widen(value)
        if bound == "exact":
            return True
        if on_bound:
            on_bound(depth, pv_index, value, bound)


def previous_value(worker: Worker, pv_index: int) -> int:
    """Return the last known value of this line; -infinite (then its window is full) if there is none.

    In this iteration the lines before it have set `value` to -infinite once, and `previous` too if they needed a second
    search.
    """
    root = worker.lines(pv_index + 1)[pv_index]
    return root.value if root.value > -INFINITE else root.previous


def ignore(*_found: object) -> None:
    """Do nothing with a result so far."""


class Search:
    """One search by a thread pool whose root is set.

    `on_result` gets the result of each depth; `on_bound` gets one line whose value lies outside its window, and its
    number.
    """

    def __init__(
        self,
        pool: ThreadPool,
        control: SearchControl,
        spec: Spec,
        *,
        on_result: Callable[[Analysis], None] = ignore,
        on_bound: Callable[[Analysis, int], None] = ignore,
    ) -> None:
        self._pool = pool
        self._control = control
        self._spec = spec
        self._node_share = pool.node_share(spec.nodes)
        self._on_result, self._on_bound = on_result, on_bound
        self._time_scale = TimeScale(pool.last_move)

    def run(self, root_moves: int) -> Analysis:
        """Search until a limit, the clock or the stop token ends it."""
        multipv = min(self._spec.multipv, root_moves)
        self._pool.start_helpers(self._helper)
        try:
            result = self._main_thread(multipv, root_moves == 1)
        finally:
            self._pool.stop_helpers()
        return self._counted(self._best_thread(result))

    def _main_thread(self, multipv: int, forced: bool) -> Analysis:
        def on_bound(depth: int, pv_index: int, value: int, bound: str) -> None:
            if bound == "upper" and pv_index == 0:
                self._control.keep_searching()
            line = self._line(main.lines(pv_index + 1)[pv_index], depth, value)
            line = replace(line, seldepth=main.seldepth, bound=bound)
            self._on_bound(self._counted(analysis_of([line], depth)), pv_index + 1)

        main, result = self._pool.main, Analysis((), Score(0, self._spec.board.turn), 0)
        depths = iterative_deepening(main, self._spec.depth, self._node_share, multipv=multipv, on_bound=on_bound)
        for depth in depths:
            lines = best_first([self._line(root, depth) for root in main.lines(multipv)])
            result = self._counted(analysis_of(lines, depth))
            self._on_result(result)
            if self._finish_depth(result, forced):
                return result
        return self._interrupted(result) if main.stopped else result

    def _helper(self, worker: Worker) -> Iterator[Analysis]:
        for depth in iterative_deepening(worker, self._spec.depth, self._node_share):
            yield analysis_of([self._line(worker.lines(1)[0], depth)], depth)

    def _counted(self, result: Analysis) -> Analysis:
        """Return the result with the nodes and the time so far."""
        pool = self._pool
        return replace(result, nodes=pool.nodes, time=self._control.total / 1000, hashfull=pool.table.hashfull())

    def _finish_depth(self, result: Analysis, forced: bool) -> bool:
        """Count a finished depth for the time of this search; return whether the search ends now."""
        optimum, forced_time = self._control.limits.optimum, self._control.limits.forced
        if optimum is None:
            return self._spec.multipv == 1 and self._is_proved(result)
        main, best = self._pool.main, result.best
        self._time_scale.iteration_done(best.move, best.value, main.lines(1)[0].nodes / max(main.nodes, 1))
        forced_done = forced and forced_time is not None and self._control.elapsed >= forced_time
        if forced_done or self._is_proved(result):
            return self._control.try_stop(without_minimum=True)
        return self._time_scale.used_up(self._control.elapsed, optimum) and self._control.try_stop()

    def _is_proved(self, result: Analysis) -> bool:
        """Return whether the end is no further away than the depth: no deeper search finds a shorter one."""
        plies = result.score.plies_to_end
        return plies is not None and plies <= result.depth

    def _interrupted(self, last: Analysis) -> Analysis:
        """Return the result if the depth after `last` was cut short: its lines, if any, then the rest of `last`."""
        if not last.lines and not self._was_searched(self._pool.main.lines(1)[0]):
            self._pool.search_depth_one()
        count, depth = max(len(last.lines), 1), last.depth + 1
        best, *others = self._pool.main.lines(count)
        # During the re-search after a fail high the move has no value: use the one that failed high.
        value = max(best.value, best.previous) if best.bound == "lower" else best.value
        if self._prefers_previous(best, value, last):
            return last if last.lines else self._static_result()
        exact = [root for root in others if self._was_searched(root) and root.bound == "exact"]
        new_best, *new = best_first([self._line(best, depth, value), *(self._line(root, depth) for root in exact)])
        moves = {line.move for line in (new_best, *new)}
        rest = best_first([*new, *(line for line in last.lines if line.move not in moves)])
        return analysis_of([new_best, *rest][:count], depth)

    def _prefers_previous(self, best: RootLine, value: int, last: Analysis) -> bool:
        """Return whether to prefer the previous depth to the one cut short, whose first line is `best`."""
        if value == -INFINITE or best.bound == "upper":
            return True
        if not last.lines:
            return False
        # If the moves searched so far are mated, a move that was not reached may be better, as the depth before says.
        return (best.bound == "lower" and best.pv[0] == last.best.move) or value <= -MATE_BOUND

    def _static_result(self) -> Analysis:
        """Return a root move with the static value if not even the first one was searched to depth 1."""
        main, board = self._pool.main, self._spec.board
        score = Score(dict(main.evaluate(board))["total"], board.turn)
        return analysis_of([Variation(score, (main.lines(1)[0].pv[0],))], 1)

    def _was_searched(self, root: RootLine) -> bool:
        """Return whether the depth that was cut short has reached this move."""
        return root.value > -INFINITE

    def _best_thread(self, result: Analysis) -> Analysis:
        """Return the best thread's result; the main thread's if there are several lines or no helpers."""
        results = self._pool.helper_results()
        if not results or len(result.lines) != 1:
            return result
        chosen = best_thread([result, *results])
        return result if chosen.best.move == result.best.move else chosen

    def _line(self, root: RootLine, depth: int, value: int | None = None) -> Variation:
        """Convert a root line of the core, whose moves are legal; its value, or another, is taken as exact."""
        score = Score(root.value if value is None else value, self._spec.board.turn)
        return Variation(score, tuple(root.pv), depth, root.seldepth)


def best_first(lines: list[Variation]) -> list[Variation]:
    """Sort lines of one depth: a later one may be better than the first."""
    return sorted(lines, key=lambda line: -line.value)


def analysis_of(lines: Sequence[Variation], depth: int) -> Analysis:
    """Return the result with these lines, best first."""
    return Analysis(tuple(lines), lines[0].score, depth)
