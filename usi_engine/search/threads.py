"""Search threads (lazy SMP): one TT, one stop token, one worker per thread, and the choice of the best thread.

All workers run the same loop from depth 1 on the same root. They diverge because each reads the TT entries that the
others have stored, and has histories of its own.
"""

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

from usi_engine.core import Board, Core, Evaluation, StopToken, Table, Worker
from usi_engine.memory import check_free, fitting
from usi_engine.search.results import Analysis
from usi_engine.search.timeman import LastMove
from usi_engine.usi.info import INFINITE, MATE_BOUND
from usi_engine.usi.options import Options, usable_cores
from usi_engine.waiting import Task

# Node limit of the search to depth 1 that ignores the clock.
DEPTH_ONE_NODES = 2000
# Megabytes of the TT that a thread touches between two looks at the stop token: some 50 ms.
SLICE_MEGABYTES = 32
# Memory of a worker with the packaged network, most of it histories.
WORKER_MEGABYTES = 36
# Weight of the worst value in the vote, in centipawns.
MIN_VOTE = 14

Result = TypeVar("Result")
Tasks = queue.SimpleQueue[Callable[[], None] | None]


@dataclass(frozen=True)
class GameRules:
    """Rules of the game that a search needs: the keyword arguments of Worker.configure.

    Values of a draw in centipawns, for either side; moves to a draw (0: no limit); the entering-king rule; whether to
    search non-promotions that are never better.
    """

    draw_black: int
    draw_white: int
    max_moves: int
    declaration: str
    include_all: bool


def game_rules(options: Options) -> GameRules:
    """Read the rules from the options."""
    return GameRules(
        draw_black=options.number("DrawValueBlack"),
        draw_white=options.number("DrawValueWhite"),
        max_moves=options.number("MaxMovesToDraw"),
        declaration=options.text("EnteringKingRule"),
        include_all=options.flag("GenerateAllLegalMoves"),
    )


class Runner:
    """A thread that carries out one task after the other as long as this object lives.

    A task is handed over in one step, so that an interrupt cannot break it.
    """

    def __init__(self, name: str) -> None:
        """Start the thread. RuntimeError if the system refuses it."""
        self._tasks: Tasks = queue.SimpleQueue()
        # The thread refers only to the tasks, so it does not keep this object alive.
        self._thread = threading.Thread(target=carry_out, args=(self._tasks,), name=name, daemon=True)
        self._thread.start()

    def __del__(self) -> None:
        self._tasks.put(None)

    def submit(self, call: Callable[[], Result]) -> Task[Result]:
        """Queue a task."""
        task = Task(call)
        self._tasks.put(task.carry_out)
        return task

    def is_current(self) -> bool:
        """Return whether the caller is one of its tasks, which must not wait for the others."""
        return threading.current_thread() is self._thread

    def join(self, seconds: float | None = None) -> None:
        """Wait until all tasks are done, but not longer than `seconds`."""
        done = queue.SimpleQueue[None]()
        self._tasks.put(lambda: done.put(None))
        with suppress(queue.Empty):
            done.get(timeout=seconds)


def carry_out(tasks: Tasks) -> None:
    """Run the tasks of a runner on its thread."""
    while (task := tasks.get()) is not None:
        task()
        del task  # frees what only the task refers to


class ThreadPool:
    """TT, stop token and workers, on threads that wait between searches. One thread at a time may use it.

    `last_move` is kept by the time management from one search to the next.
    """

    def __init__(
        self, core: Core, stop: StopToken, megabytes: int, threads: int, weights: Evaluation | None = None
    ) -> None:
        """Allocate TT and workers. MemoryError if TT and main worker do not fit; fewer helpers if these do not.

        A stop leaves it to the first search to have the memory of the TT provided by the system.
        """
        self._core = core
        self._stop = stop
        self._weights = weights
        self._helpers: list[tuple[Worker, Runner]] = []
        self._jobs: list[Task[None]] = []
        self._results: dict[Worker, Analysis] = {}
        self._used = False
        self.last_move = LastMove()
        check_free(megabytes)
        self.table: Table = core.table(megabytes)
        self.main: Worker = self._new_worker()
        self.resize(threads)
        self._touch_table()

    def _touch_table(self) -> None:
        parts = -(-self.table.megabytes // SLICE_MEGABYTES)
        slices = iter(range(parts))

        def touch(worker: Worker) -> None:
            for part in slices:
                if self._stop.is_set():
                    return
                self.table.touch(part, parts)

        self._on_all(touch)

    @property
    def workers(self) -> list[Worker]:
        """The workers of all threads, the main one first."""
        return [self.main, *(worker for worker, _thread in self._helpers)]

    @property
    def nodes(self) -> int:
        """Nodes of all workers since set_root."""
        return sum(worker.nodes for worker in self.workers)

    def resize(self, threads: int) -> None:
        """Remove or add workers, as many as memory and the system allow."""
        del self._helpers[threads - 1 :]
        with suppress(MemoryError, RuntimeError):
            for _ in range(fitting(threads - 1 - len(self._helpers), WORKER_MEGABYTES)):
                self._helpers.append((self._new_worker(), Runner("helper")))

    def _new_worker(self) -> Worker:
        """Create a worker. Those beyond the number of cores allocate lazily: 512 would take 18 GB and long to fill."""
        lazy = len(self._helpers) >= usable_cores()
        return self._core.worker(self.table, self._stop, self._weights, lazy)

    def new_game(self) -> None:
        """Clear TT and histories if anything was searched; each thread clears a part of the TT."""
        if not self._used:
            return
        self._used = False
        self.last_move = LastMove()
        self.join_helpers()
        workers = self.workers

        def clear(worker: Worker) -> None:
            self.table.clear(workers.index(worker), len(workers))
            worker.new_game()

        self._on_all(clear)

    def set_root(self, board: Board, moves: Sequence[str] | None, rules: GameRules) -> int:
        """Prepare all workers for this position; return the number of root moves."""
        self._used = True
        self.table.new_search()
        for worker in self.workers:
            worker.configure(**asdict(rules))
        counts = [worker.set_root(board, moves) for worker in self.workers]
        return counts[0]

    def node_share(self, node_limit: int) -> int:
        """Return one worker's share of a node limit; 0 stays 0, no limit."""
        return max(node_limit // len(self.workers), 1) if node_limit else 0

    def search_depth_one(self) -> None:
        """Search to depth 1 on the main thread, even after the deadline or a stop. It takes a millisecond or two."""
        self._stop.clear()
        self.main.search(1, -INFINITE, INFINITE, 0, self.main.nodes + DEPTH_ONE_NODES)

    def start_helpers(self, search: Callable[[Worker], Iterator[Analysis]]) -> None:
        """Run `search`, which yields a result per finished depth, for every helper on its thread."""

        def run(worker: Worker) -> None:
            for result in search(worker):
                self._results[worker] = result

        self._results = {}
        self._start(run)

    def stop_helpers(self) -> None:
        """Set the stop token. The results can be used before the helpers have stopped."""
        if self._helpers:
            self._stop.set()

    def join_helpers(self) -> None:
        """Wait until the helpers have stopped."""
        while self._jobs:
            with suppress(Exception):  # the main thread does the same and reports its errors
                self._jobs.pop().result()

    def _on_all(self, job: Callable[[Worker], None]) -> None:
        """Do a job for every worker, each on its thread."""
        self._start(job)
        job(self.main)
        self.join_helpers()

    def _start(self, job: Callable[[Worker], None]) -> None:
        """Begin a job for every helper on its thread; those before must have ended."""
        self._jobs = [thread.submit(partial(job, worker)) for worker, thread in self._helpers]

    def helper_results(self) -> list[Analysis]:
        """Return each helper's result of its last finished depth."""
        return list(self._results.values())


def best_thread(results: Sequence[Analysis]) -> Analysis:
    """Return the result to play, by a vote weighted by depth and value (Stockfish). `results[0]`, the main thread's,
    wins ties.

    Values from MATE_BOUND on are proved wins and come first, the shortest before the others. A proved loss is chosen
    only if every thread has one.
    """
    wins = [result for result in results if result.best.value >= MATE_BOUND]
    if wins:
        return max(wins, key=lambda result: result.best.value)
    undecided = [result for result in results if result.best.value > -MATE_BOUND]
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
