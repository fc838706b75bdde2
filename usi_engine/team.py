"""The workers of one engine: one table, one stop, one worker a thread; the first leads, the others help."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.options import Options
from usi_engine.vote import Vote

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import StopToken, Table, Weights, Worker

# Half-width of the first window around the last value, in centipawns, and the depth from which windows are tried.
WINDOW = 24
WINDOW_FROM_DEPTH = 5
GLANCE_NODES = 2000


class Window:
    """An aspiration window: begins narrow around `guess`, widens on the side that failed, twice as far each time."""

    def __init__(self, core: Core, depth: int, guess: int) -> None:
        self._core = core
        self._step = WINDOW
        tried = depth >= WINDOW_FROM_DEPTH and abs(guess) < core.mate_bound
        self.alpha = guess - WINDOW if tried else -core.infinite
        self.beta = guess + WINDOW if tried else core.infinite

    def failed(self, value: int) -> str:
        """Widen after `value`; returns `lower` or `upper`, the bound it is, or `exact` where it lay inside."""
        core = self._core
        if self.alpha < value < self.beta:
            return "exact"
        low = value <= self.alpha
        self._step *= 2
        if low:
            self.beta = min((self.alpha + self.beta) // 2 + 1, self.beta)
            self.alpha = -core.infinite if value <= -core.mate_bound else max(value - self._step, -core.infinite)
        else:
            self.beta = core.infinite if value >= core.mate_bound else min(value + self._step, core.infinite)
        return "upper" if low else "lower"


class Team:
    """Table, stop and workers. Only the thread that thinks may call what searches."""

    def __init__(
        self, core: Core, stop: StopToken, megabytes: int, threads: int, weights: Weights | None = None
    ) -> None:
        self._core = core
        self._stop = stop
        self._weights = weights
        self._helping: list[threading.Thread] = []
        self._votes: dict[Worker, Vote] = {}
        self._used = False
        self.table: Table = core.table(megabytes)
        # The system hands memory out when it is first written to: better now than on the clock of a first move.
        self.table.clear()
        self.workers: list[Worker] = []
        self.resize(threads)

    @property
    def leader(self) -> Worker:
        """The worker whose lines are played."""
        return self.workers[0]

    @property
    def nodes(self) -> int:
        """Nodes of all workers since set_root."""
        return sum(worker.nodes for worker in self.workers)

    def resize(self, threads: int) -> None:
        """Keep the first `threads` workers; make what is missing."""
        del self.workers[threads:]
        for index in range(len(self.workers), threads):
            self.workers.append(self._core.worker(self.table, self._stop, index, self._weights))

    def new_game(self) -> None:
        """Forget everything; at no cost where nothing was searched yet."""
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

    def share(self, node_limit: int) -> int:
        """One worker's part of a limit on all nodes; 0 stays 0, no limit."""
        return max(node_limit // len(self.workers), 1) if node_limit else 0

    def glance(self) -> None:
        """Search depth 1 whatever the clock says, in a millisecond or two, so that there is something to play."""
        self._stop.clear()
        self.leader.search(1, -self._core.infinite, self._core.infinite, 0, GLANCE_NODES)

    def start_helpers(self, max_depth: int, node_limit: int) -> None:
        """Let the others search the same root; they stop when the stop does."""
        arguments = (max_depth, self.share(node_limit))
        self._votes = {}
        self._helping = [
            threading.Thread(target=self._help, args=(worker, *arguments), name="helper", daemon=True)
            for worker in self.workers[1:]
        ]
        for thread in self._helping:
            thread.start()

    def stop_helpers(self) -> None:
        """Request the stop of the others. They need not have seen it for their votes to be counted."""
        if self._helping:
            self._stop.set()

    def join_helpers(self) -> None:
        """Wait until the others have stopped."""
        for thread in self._helping:
            thread.join()
        self._helping = []

    def votes(self) -> list[Vote]:
        """What the helpers found: the best line of the last depth that each finished."""
        return list(self._votes.values())

    def _help(self, worker: Worker, max_depth: int, node_limit: int) -> None:
        guess = 0
        for depth in range(1, max_depth + 1):
            window = Window(self._core, depth, guess)
            bound = ""
            while bound != "exact":
                guess = worker.search(depth, window.alpha, window.beta, 0, node_limit)
                if worker.stopped:
                    return
                bound = window.failed(guess)
            best = worker.lines(1)[0]
            self._votes[worker] = Vote(depth, tuple(best.pv), best.value, best.seldepth)
