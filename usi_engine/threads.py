"""The search threads: one table, one stop token, one worker per thread, and the choice of the best thread's line.

All workers search the same root from depth 1 on, by the same loop (lazy SMP). They diverge because each reads from the
shared table what the others have stored by then, and because their histories are their own.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.options import Options
from usi_engine.report import SearchResult

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import Evaluation, StopToken, Table, Worker

# Node limit of the search to depth 1 that ignores the clock.
DEPTH_ONE_NODES = 2000
# Weight of the worst value in the vote, in centipawns.
MIN_VOTE = 14


class ThreadPool:
    """Table, stop token and workers. One thread at a time may use it, besides the helpers it starts."""

    def __init__(
        self, core: Core, stop: StopToken, megabytes: int, threads: int, weights: Evaluation | None = None
    ) -> None:
        self._core = core
        self._stop = stop
        self._weights = weights
        self._helpers: list[threading.Thread] = []
        self._results: dict[Worker, SearchResult] = {}
        self._used = False
        self.table: Table = core.table(megabytes)
        self.workers: list[Worker] = []
        self.resize(threads)

    @property
    def main(self) -> Worker:
        """The main thread's worker."""
        return self.workers[0]

    @property
    def nodes(self) -> int:
        """Nodes of all workers since set_root."""
        return sum(worker.nodes for worker in self.workers)

    def resize(self, threads: int) -> None:
        """Keep the first `threads` workers; add the missing ones."""
        del self.workers[threads:]
        while len(self.workers) < threads:
            self.workers.append(self._core.worker(self.table, self._stop, self._weights))

    def new_game(self) -> None:
        """Clear the table and the histories, unless nothing was searched since."""
        if not self._used:
            return
        self._used = False
        self.table.clear()
        for worker in self.workers:
            worker.new_game()

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
        self.main.search(1, -self._core.infinite, self._core.infinite, 0, DEPTH_ONE_NODES)

    def start_helpers(self, search: Callable[[Worker], Iterator[SearchResult]]) -> None:
        """Run `search` for every worker but the main one, each on a thread; it yields a result per finished depth."""
        self._results = {}
        self._helpers = [
            threading.Thread(target=self._help, args=(worker, search), name="helper", daemon=True)
            for worker in self.workers[1:]
        ]
        for thread in self._helpers:
            thread.start()

    def stop_helpers(self) -> None:
        """Request their stop. Their results can be used before they have stopped."""
        if self._helpers:
            self._stop.set()

    def join_helpers(self) -> None:
        """Wait until the helpers have stopped."""
        for thread in self._helpers:
            thread.join()
        self._helpers = []

    def helper_results(self) -> list[SearchResult]:
        """The result of the last depth that each helper has finished."""
        return list(self._results.values())

    def _help(self, worker: Worker, search: Callable[[Worker], Iterator[SearchResult]]) -> None:
        for result in search(worker):
            self._results[worker] = result


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
