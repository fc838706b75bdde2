"""Python API of the engine.

with Engine(threads=2) as engine:
    found = engine.analyse(board, nodes=100_000, multipv=3)
print(found.move, found.score, found.pv)
"""

from __future__ import annotations

import io
import math
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import index
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from usi_engine.core import Core, load_core
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.search.iterative import Search, SearchLimits
from usi_engine.search.report import Line, Reporter, SearchResult, SearchStats
from usi_engine.search.search_control import SearchControl
from usi_engine.search.threads import Runner, ThreadPool, game_rules
from usi_engine.search.timeman import TimeLimits
from usi_engine.usi.options import DECLARED, Options, Spin
from usi_engine.usi.output import Writer

if TYPE_CHECKING:
    from core_ext.board import Board, Outcome
    from core_ext.engine import Evaluation

# A value of the option EvalFile, piece values by letter, or a loaded evaluation; None: usual piece values.
EvaluationSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, int] | Evaluation | None"
MEGABYTES = 64
MOST_NODES = 1 << 48
MOST_SECONDS = 86400.0 * 365
# Interval of checks for Ctrl-C in seconds, while another thread searches.
WATCH = 0.1


@dataclass(frozen=True, order=True)
class Score:
    """The value of a position for its side to move; scores are ordered, greater is better.

    `value` is in centipawns, or a mate: 32000 - n if the side to move mates in n plies, n - 32000 if it is mated.
    `cp` is the value in centipawns, None for a mate; at most 20000, which is also the value of a win by rule.
    `mate` is the number of plies to mate: positive for the side to move, negative against it, 0 if it is mated already,
    None if there is no mate.
    """

    value: int
    cp: int | None
    mate: int | None

    def __str__(self) -> str:
        """Return `+120`, `mate 5`, `mate -4`."""
        return f"mate {self.mate}" if self.cp is None else f"{self.cp:+d}"


@dataclass(frozen=True)
class Variation:
    """A line of moves in USI, its score for the side to move, depth and selective depth."""

    score: Score
    pv: tuple[str, ...]
    depth: int
    seldepth: int

    @property
    def move(self) -> str:
        """The first move."""
        return self.pv[0]


@dataclass(frozen=True)
class Analysis:
    """The result of a search: lines, best first, nodes of all threads, seconds.

    If the game is over by the rules, `outcome` says how, there is no line, and `move` is None.
    """

    lines: tuple[Variation, ...]
    score: Score
    depth: int
    nodes: int
    time: float
    outcome: Outcome | None = None

    @property
    def move(self) -> str | None:
        """The best move."""
        return self.lines[0].move if self.lines else None

    @property
    def pv(self) -> tuple[str, ...]:
        """The best line."""
        return self.lines[0].pv if self.lines else ()


# Called on another thread with the result so far, after each depth.
Watch = Callable[[Analysis], None]


class Watched(Reporter):
    """A reporter that passes each iteration to `watch` and prints nothing."""

    def __init__(self, core: Core, watch: Callable[[SearchResult], None]) -> None:
        super().__init__(Writer(io.BytesIO()), core, 0, lambda: SearchStats(0, 0, 0))
        self._watch = watch

    def iteration(self, result: SearchResult) -> None:
        """Pass the iteration on."""
        self._watch(result)

    def bound(self, line: Line, multipv: int) -> None:
        """Do nothing."""


class Engine:
    """A search with its TT, threads and evaluation, kept until `close` or the end of a `with` block.

    `evaluation` is a value of the option EvalFile (`<internal>`, `kpp`, `material`, the path of a file), a mapping of
    piece values as for PieceValues, or a loaded evaluation. One thread at a time may call it; a second one gets a
    RuntimeError. WeightsError if the evaluation cannot be read, MemoryError, CoreError, ValueError; RuntimeError if no
    thread can be started.
    """

    def __init__(
        self, evaluation: EvaluationSource = INTERNAL, *, threads: int = 1, megabytes: int = MEGABYTES
    ) -> None:
        checked_spin("Threads", threads)
        checked_spin("USI_Hash", megabytes)
        self._core = core = load_core()
        self._stop = core.stop_token()
        self._options = Options()
        self._turn = threading.Lock()
        self._closed = False
        pool = ThreadPool(core, self._stop, megabytes, threads, loaded(core, evaluation))
        self._pool: ThreadPool | None = pool
        self._runner = Runner("search")
        self.threads = len(pool.workers)  # fewer than `threads` if the system refuses some

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def analyse(
        self,
        board: Board,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
        multipv: int = 1,
        moves: Sequence[str] | None = None,
        watch: Watch | None = None,
    ) -> Analysis:
        """Search a position with its game history until `nodes`, `depth` or `time` (seconds) is reached.

        Give at least one of them. `multipv`: number of lines. `moves`: the only root moves to search. The TT keeps the
        entries of earlier searches, see `new_game`. Ctrl-C stops the search within 0.1 s. ValueError for a limit out of
        range or an illegal move.
        """
        wanted = limits_of(self._core, nodes, depth, time, multipv)
        position = board.copy()  # other threads may change theirs in the meantime
        with self._exclusive_pool() as pool:
            outcome = position.outcome(self._options.text("EnteringKingRule"))
            if outcome is not None:
                return Analysis((), decided_score(self._core, outcome, position), 0, 0, 0.0, outcome)
            self._end_search()  # one that a second interrupt left behind
            roots = pool.set_root(position, checked_moves(moves), game_rules(self._options))
            self._stop.clear()
            control = SearchControl(self._stop, TimeLimits(maximum=max(round(time * 1000), 1) if time else None))

            def run() -> SearchResult:
                try:
                    return Search(self._core, pool, control, wanted, Watched(self._core, report)).run(position, roots)
                finally:
                    pool.join_helpers()

            def report(result: SearchResult) -> None:
                if watch:
                    watch(self._analysis(result, pool, control))

            return self._analysis(self._interruptible(run), pool, control)

    def static_value(self, board: Board) -> int:
        """Return the static value in centipawns for the side to move."""
        with self._exclusive_pool() as pool:
            return dict(pool.main.evaluate(board))["total"]

    def new_game(self) -> None:
        """Forget earlier searches: the next one gives the same result as a new engine's."""
        with self._exclusive_pool() as pool:
            pool.new_game()

    def stop(self) -> None:
        """End the search of another thread; it returns its result so far, at least depth 1."""
        self._stop.set()

    def close(self) -> None:
        """Stop and free the memory; further calls get a RuntimeError. It may be called twice.

        Within `watch` it returns at once; then the search ends, returns its result so far and frees the memory.
        """
        self._closed = True
        if self._runner.is_current():  # waiting for the search would be waiting for itself
            self._stop.set()
            return
        while not self._turn.acquire(timeout=WATCH):
            self._stop.set()  # repeatedly, because a search that begins clears it
        self._pool = None
        self._turn.release()

    @contextmanager
    def _exclusive_pool(self) -> Iterator[ThreadPool]:
        """Yield the pool to one thread at a time. RuntimeError if another thread uses it, and after `close`."""
        if not self._turn.acquire(blocking=False):
            raise RuntimeError("the engine is searching in another thread")
        try:
            if self._pool is None or self._closed:
                raise RuntimeError("the engine is closed")
            yield self._pool
        finally:
            if self._closed:
                self._pool = None
            self._turn.release()

    def _interruptible(self, search: Callable[[], SearchResult]) -> SearchResult:
        """Run a search on another thread: Ctrl-C reaches the calling one only in Python code."""
        results = queue.SimpleQueue[SearchResult | BaseException]()

        def run() -> None:
            try:
                results.put(search())
            except BaseException as error:
                results.put(error)

        try:
            self._runner.submit(run)
            return waited_for(results)
        except KeyboardInterrupt:
            self._end_search()
            raise

    def _end_search(self) -> None:
        """End the search of the other thread, if any."""
        self._stop.set()
        self._runner.join()

    def _analysis(self, result: SearchResult, pool: ThreadPool, control: SearchControl) -> Analysis:
        lines = tuple(
            Variation(score_of(self._core, line.value), line.pv, line.depth, line.seldepth) for line in result.lines
        )
        return Analysis(lines, lines[0].score, result.depth, pool.nodes, control.total / 1000)


def analyse(
    board: Board,
    *,
    nodes: int | None = None,
    depth: int | None = None,
    time: float | None = None,
    multipv: int = 1,
    threads: int = 1,
    evaluation: EvaluationSource = INTERNAL,
) -> Analysis:
    """Search once with a new engine; see Engine.analyse. For several positions, keep an Engine."""
    with Engine(evaluation, threads=threads) as engine:
        return engine.analyse(board, nodes=nodes, depth=depth, time=time, multipv=multipv)


def waited_for(results: queue.SimpleQueue[SearchResult | BaseException]) -> SearchResult:
    """Return the result or raise the error. Ctrl-C interrupts within WATCH seconds."""
    while True:
        with suppress(queue.Empty):
            result = results.get(timeout=WATCH)
            break
    if isinstance(result, BaseException):
        raise result
    return result


# ---- arguments ----


def loaded(core: Core, evaluation: EvaluationSource) -> Evaluation | None:
    """Load an evaluation. WeightsError, MemoryError, ValueError."""
    if isinstance(evaluation, str | os.PathLike):
        return load_evaluation(os.fspath(evaluation))
    if isinstance(evaluation, Mapping):
        from core_ext.engine import PieceValues  # noqa: PLC0415  (the core is loaded by load_core)

        return PieceValues(evaluation)
    return evaluation


def checked_spin(name: str, number: int) -> None:
    """Raise ValueError for a number out of the range of this option."""
    kind = DECLARED[name]
    assert isinstance(kind, Spin)
    checked_number(name, number, kind.least, kind.most)


def checked_number(name: str, number: int, least: int, most: int) -> None:
    """Raise ValueError for a number out of range, TypeError if it is not an integer."""
    if not least <= index(number) <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {number}")


def checked_moves(moves: Sequence[str] | None) -> Sequence[str] | None:
    """Raise ValueError for an empty list."""
    if moves is not None and not moves:
        raise ValueError("no moves to search")
    return moves


def limits_of(core: Core, nodes: int | None, depth: int | None, time: float | None, multipv: int) -> SearchLimits:
    """Return the limits besides the time. ValueError if one is out of range or none is given."""
    if nodes is None and depth is None and time is None:
        raise ValueError("a search needs an end: nodes, depth or time")
    for name, number, most in (("nodes", nodes, MOST_NODES), ("depth", depth, core.max_depth)):
        if number is not None:
            checked_number(name, number, 1, most)
    if time is not None and not (math.isfinite(time) and 0 < time <= MOST_SECONDS):
        raise ValueError(f"time must be a number of seconds above 0, not {time}")
    checked_spin("MultiPV", multipv)
    return SearchLimits(depth or core.max_depth, nodes or 0, multipv)


# ---- results ----


def score_of(core: Core, value: int) -> Score:
    """Convert a value of the core."""
    plies = 0 if abs(value) == core.mate else core.in_plies(value)
    cp = max(min(value, core.max_evaluation), -core.max_evaluation) if plies is None else None
    return Score(value, cp, plies)


def decided_score(core: Core, outcome: Outcome, board: Board) -> Score:
    """Return the score of a finished game for the side to move."""
    if outcome.winner is None:
        return score_of(core, 0)
    if not board.legal_moves():
        return score_of(core, -core.mate)
    by_rule = core.mate_bound - 1
    return score_of(core, by_rule if outcome.winner == board.turn else -by_rule)
