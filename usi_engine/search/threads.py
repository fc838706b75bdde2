"""The search threads: one table, one stop token, one worker per thread, and the choice of the best thread's line.

All workers search the same root from depth 1 on, by the same loop (lazy SMP). They diverge because each reads from the
shared table what the others have stored by then, and because their histories are their own.
"""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.memory import check_free
from usi_engine.search.report import SearchResult
from usi_engine.search.timeman import LastMove
from usi_engine.usi.options import Options, usable_cores

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import Evaluation, StopToken, Table, Worker

# Node limit of the search to depth 1 that ignores the clock.
DEPTH_ONE_NODES = 2000
# Weight of the worst value in the vote, in centipawns.
MIN_VOTE = 14


Tasks = queue.SimpleQueue[Callable[[], None] | None]


class Runner:
    """A thread that carries out one task after the other as long as this object lives.

    An interrupt cannot break it: a task is handed over in one step.
    """

    def __init__(self, name: str) -> None:
        """RuntimeError where the thread cannot be started."""
        self._tasks: Tasks = queue.SimpleQueue()
        # The thread refers to the tasks alone: it does not keep this object alive.
        self._thread = threading.Thread(target=carry_out, args=(self._tasks,), name=name, daemon=True)
        self._thread.start()

    def __del__(self) -> None:
        self._tasks.put(None)

    def submit(self, task: Callable[[], None]) -> None:
        """Carry it out after those before it. It must not raise."""
        self._tasks.put(task)

    def is_current(self) -> bool:
        """Whether one of its tasks asks, which must not wait for the others."""
        return threading.current_thread() is self._thread

    def join(self) -> None:
        """Wait until nothing is left to do."""
        done = queue.SimpleQueue[None]()
        self._tasks.put(lambda: done.put(None))
        done.get()


class Helper:
    """A worker with a thread of its own, which waits for searches."""

    def __init__(self, worker: Worker) -> None:
        """RuntimeError where the thread cannot be started."""
        self.worker = worker
        self._runner = Runner("helper")
        self._idle = threading.Event()
        self._idle.set()

    def start(self, search: Callable[[Worker], None]) -> None:
        """Begin this search; the one before must have ended."""
        self._idle.clear()
        self._runner.submit(lambda: self._run(search))

    def join(self) -> None:
        """Wait until the search has ended; wakes no thread where it has."""
        self._idle.wait()

    def _run(self, search: Callable[[Worker], None]) -> None:
        # The main thread runs the same loop and reports what goes wrong in it.
        with suppress(Exception):
            search(self.worker)
        self._idle.set()


def carry_out(tasks: Tasks) -> None:
    """The body of a runner's thread."""
    while (task := tasks.get()) is not None:
        task()
        del task  # and with it the helper, if nothing else refers to it


class ThreadPool:
    """Table, stop token and workers, on threads that wait between searches. One thread at a time may use it.

    `last_move`: what the time management keeps from one search to the next.
    """

    def __init__(
        self, core: Core, stop: StopToken, megabytes: int, threads: int, weights: Evaluation | None = None
    ) -> None:
        """MemoryError where table and main worker cannot be had."""
        self._core = core
        self._stop = stop
        self._weights = weights
        self._helpers: list[Helper] = []
        self._results: dict[Worker, SearchResult] = {}
        self._used = False
        self.last_move = LastMove()
        check_free(megabytes)
        self.table: Table = core.table(megabytes)
        self.main: Worker = self._new_worker()
        self.resize(threads)

    @property
    def workers(self) -> list[Worker]:
        """One for each thread, the main thread's first."""
        return [self.main, *(helper.worker for helper in self._helpers)]

    @property
    def nodes(self) -> int:
        """Nodes of all workers since set_root."""
        return sum(worker.nodes for worker in self.workers)

    def resize(self, threads: int) -> int:
        """Keep the first `threads` workers; add those missing, as far as memory and threads can be had.

        Returns how many there are.
        """
        del self._helpers[threads - 1 :]
        with suppress(MemoryError, RuntimeError):
            while len(self._helpers) < threads - 1:
                self._helpers.append(Helper(self._new_worker()))
        return 1 + len(self._helpers)

    def _new_worker(self) -> Worker:
        """Beyond the cores it gets its memory as it uses it: that of 512 threads is 8 GB and takes long to be had."""
        lazy = len(self._helpers) >= usable_cores()
        return self._core.worker(self.table, self._stop, self._weights, lazy)

    def new_game(self) -> None:
        """Clear the table and the histories, unless nothing was searched since; each thread clears a part."""
        if not self._used:
            return
        self._used = False
        self.last_move = LastMove()
        self.join_helpers()
        workers = self.workers

        def clear(worker: Worker) -> None:
            self.table.clear(workers.index(worker), len(workers))
            worker.new_game()

        for helper in self._helpers:
            helper.start(clear)
        clear(self.main)
        self.join_helpers()

    def set_root(self, board: Board, moves: Sequence[str] | None, options: Options) -> int:
        """Prepare all workers for this position; returns the number of root moves."""
        self._used = True
        self.table.new_search()
        for worker in self.workers:
            worker.configure(
                draw_black=options.number("DrawValueBlack"),
                draw_white=options.number("DrawValueWhite"),
                max_moves=options.number("MaxMovesToDraw"),
                declaration=options.text("EnteringKingRule"),
                include_all=options.flag("GenerateAllLegalMoves"),
            )
        counts = [worker.set_root(board, moves) for worker in self.workers]
        return counts[0]

    def node_share(self, node_limit: int) -> int:
        """One worker's share of a limit on the nodes of all; 0 stays 0, no limit."""
        return max(node_limit // len(self.workers), 1) if node_limit else 0

    def search_depth_one(self) -> None:
        """Search to depth 1 on the main thread, even after the deadline or a stop; takes a millisecond or two."""
        self._stop.clear()
        self.main.search(1, -self._core.infinite, self._core.infinite, 0, self.main.nodes + DEPTH_ONE_NODES)

    def start_helpers(self, search: Callable[[Worker], Iterator[SearchResult]]) -> None:
        """Run `search` for every worker but the main one, each on a thread; it yields a result per finished depth."""

        def run(worker: Worker) -> None:
            for result in search(worker):
                self._results[worker] = result

        self._results = {}
        for helper in self._helpers:
            helper.start(run)

    def stop_helpers(self) -> None:
        """Request their stop. Their results can be used before they have stopped."""
        if self._helpers:
            self._stop.set()

    def join_helpers(self) -> None:
        """Wait until the helpers have stopped."""
        for helper in self._helpers:
            helper.join()

    def helper_results(self) -> list[SearchResult]:
        """The result of the last depth that each helper has finished."""
        return list(self._results.values())


def best_thread(results: Sequence[SearchResult], mate_bound: int) -> SearchResult:
    """The result to play, by a vote weighted by depth and value (Stockfish); the first, the main thread's, wins ties.

    A value of `mate_bound` or more is a proved win and comes before all others, the shortest first; a proved loss is
    played only where every thread has one.
    """
    wins = [result for result in results if result.best.value >= mate_bound]
    if wins:
        return max(wins, key=lambda result: result.best.value)
    undecided = [result for result in results if result.best.value > -mate_bound]
    if not undecided:
        return results[0]
    worst = min(result.best.value for result in undecided)
    votes: defaultdict[str, int] = defaultdict(int)
    for result in undecided:
        votes[result.best.move] += (result.best.value - worst + MIN_VOTE) * result.depth
    most = max(votes.values())
    chosen = [result for result in undecided if votes[result.best.move] == most]
    main_move = results[0].best.move
    return max(chosen, key=lambda result: (result.best.move == main_move, result.depth, result.best.value))
