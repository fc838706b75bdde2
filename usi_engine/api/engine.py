"""Python API of the engine.

with Engine(threads=2) as engine:
    found = engine.analyse(board, nodes=100_000, multipv=3)
print(found.move, found.score, found.pv)
"""

from __future__ import annotations

import copy
import io
import os
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from usi_engine.api.search_engine import OptionValues, SearchEngine, option_texts
from usi_engine.api.stream import WATCH, next_of
from usi_engine.api.usi_process import UsiEngine
from usi_engine.core import Core, load_core
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.search.iterative import Search, SearchLimits
from usi_engine.search.report import NEVER, Reporter, SearchResult, SearchStats
from usi_engine.search.results import (
    Analysis,
    Limit,
    PlayResult,
    Score,
    Variation,
    Watch,
    checked_number,
    copy_of,
    decided_play,
    decided_score,
)
from usi_engine.search.search_control import SearchControl
from usi_engine.search.threads import Runner, ThreadPool, game_rules
from usi_engine.search.timeman import TimeLimits, time_limits
from usi_engine.usi.options import DECLARED, Option, Options
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Go

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import Evaluation

# A value of the option EvalFile, piece values by letter, or a loaded evaluation; None: usual piece values.
EvaluationSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, int] | Evaluation | None"
MEGABYTES = 64
# The options that concern a search, and those for which TT and threads are made anew.
HEEDED = (
    "Threads", "USI_Hash", "EvalFile", "EnteringKingRule", "MaxMovesToDraw", "DrawValueBlack", "DrawValueWhite",
    "GenerateAllLegalMoves", "NetworkDelay", "NetworkDelay2", "MinimumThinkingTime", "SlowMover", "RoundUpToFullSecond",
)  # fmt: skip
MADE_ANEW = frozenset({"Threads", "USI_Hash", "EvalFile"})
OWN_DEFAULTS = {"Threads": 1, "USI_Hash": MEGABYTES}


class Watched(Reporter):
    """A reporter that passes each iteration to `watch` and prints nothing."""

    def __init__(self, core: Core, watch: Callable[[SearchResult], None]) -> None:
        super().__init__(Writer(io.BytesIO()), core, NEVER, lambda: SearchStats(0, 0, 0))
        self._watch = watch

    def iteration(self, result: SearchResult) -> None:
        """Pass the iteration on."""
        self._watch(result)


class Engine(SearchEngine):
    """A search with its TT, threads and evaluation, kept until `close` or the end of a `with` block.

    `evaluation` is a value of the option EvalFile (`<internal>`, `kpp`, `material`, the path of a file), a mapping of
    piece values as for PieceValues, or a loaded evaluation; `options` are set as by `configure`. One thread at a time
    may call it, in the process that made it; others get a RuntimeError. WeightsError if the evaluation cannot be read,
    MemoryError, CoreError, ValueError; RuntimeError if no thread can be started.
    """

    popen = UsiEngine  # starts another USI engine

    def __init__(
        self,
        evaluation: EvaluationSource = INTERNAL,
        *,
        threads: int = 1,
        megabytes: int = MEGABYTES,
        options: OptionValues | None = None,
    ) -> None:
        super().__init__(load_core())
        checked_spin("Threads", threads)
        checked_spin("USI_Hash", megabytes)
        self._stop = self._core.stop_token()
        given = {"Threads": threads, "USI_Hash": megabytes, **(options or {})}
        self._options = Options()
        self._pool: ThreadPool | None = None
        self._set(given, evaluation)
        self._runner = Runner("search")

    @property
    def options(self) -> dict[str, Option]:
        """The options by name, with type, default and range."""
        own = {name: replace(DECLARED[name], default=number) for name, number in OWN_DEFAULTS.items()}
        return {name: own.get(name, DECLARED[name]) for name in HEEDED}

    def configure(self, options: OptionValues) -> None:
        """Set options that concern the search; a new value of Threads, USI_Hash or EvalFile clears the TT.

        ValueError for an option it does not have or a refused value, WeightsError, MemoryError: nothing is changed.
        """
        with self._exclusive_pool():
            self._set(options, self._weights)

    def _play(self, board: Board, limit: Limit) -> PlayResult:
        found = self._search(board, limit, 1, None, None)
        if found.outcome is not None:
            return decided_play(found, board.turn)
        return PlayResult(found.move, found.pv[1] if found.pv[1:] else None, found.score)

    def static_value(self, board: Board) -> int:
        """Return the static value in centipawns for the side to move."""
        with self._exclusive_pool() as pool:
            return dict(pool.main.evaluate(copy_of(board)))["total"]

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
        if os.getpid() != self._process:
            return  # nobody searches here, and a thread of the other process may have held the lock
        if self._runner.is_current():  # waiting for the search would be waiting for itself
            self._stop.set()
            return
        while not self._turn.acquire(timeout=WATCH):
            self._stop.set()  # repeatedly, because a search that begins clears it
        self._pool = None
        self._turn.release()

    def _search(
        self, board: Board, limit: Limit | None, multipv: int, moves: Sequence[str] | None, watch: Watch | None
    ) -> Analysis:
        """Search until the limit, or until `stop` without one."""
        checked_spin("MultiPV", multipv)
        end = limit or Limit(depth=self._core.max_depth)
        wanted = SearchLimits(end.depth or self._core.max_depth, end.nodes or 0, multipv)
        with self._exclusive_pool() as pool:
            outcome = board.outcome(self._options.text("EnteringKingRule"))
            if outcome is not None:
                return Analysis((), decided_score(self._core, outcome, board), 0, 0, 0.0, outcome)
            self._end_search()  # one that a second interrupt left behind
            roots = pool.set_root(board, checked_moves(moves), game_rules(self._options))
            self._stop.clear()
            control = SearchControl(self._stop, self._time_limits(end, board))

            def run() -> SearchResult:
                try:
                    return Search(self._core, pool, control, wanted, Watched(self._core, report)).run(board, roots)
                finally:
                    pool.join_helpers()

            def report(result: SearchResult) -> None:
                if watch:
                    watch(self._analysis(result, pool, control, board.turn))

            return self._analysis(self._interruptible(run), pool, control, board.turn)

    def _set(self, options: OptionValues, evaluation: EvaluationSource) -> None:
        """Set options; make TT and threads anew if they need it. `evaluation` counts unless EvalFile is given."""
        changed = changed_options(self._options, options)
        if MADE_ANEW & options.keys():
            weights = loaded(self._core, changed.text("EvalFile") if "EvalFile" in options else evaluation)
            sizes = changed.number("USI_Hash"), changed.number("Threads")
            self._pool = pool = ThreadPool(self._core, self._stop, *sizes, weights)
            self._weights, self.threads = weights, len(pool.workers)  # fewer if the system refuses some
        self._options = changed

    @contextmanager
    def _exclusive_pool(self) -> Iterator[ThreadPool]:
        """Yield the pool to one thread at a time; free it if `close` was called in the meantime. RuntimeError."""
        with self._exclusive():
            assert self._pool is not None
            try:
                yield self._pool
            finally:
                if self._closed:
                    self._pool = None

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
            result = next_of(results)
        except KeyboardInterrupt:
            self._end_search()
            raise
        if isinstance(result, BaseException):
            raise result
        return result

    def _end_search(self) -> None:
        """End the search of the other thread, if any."""
        self._stop.set()
        self._runner.join()

    def _time_limits(self, end: Limit, board: Board) -> TimeLimits:
        """Return the limits of time: the exact time, or a share of the clock."""
        if end.times.given():
            return time_limits(Go(end.times), board.turn == self._core.black, board.ply, self._options)
        return TimeLimits(maximum=max(round(end.time * 1000), 1) if end.time else None)

    def _analysis(self, result: SearchResult, pool: ThreadPool, control: SearchControl, turn: int) -> Analysis:
        lines = tuple(Variation(Score(line.value, turn), line.pv, line.depth, line.seldepth) for line in result.lines)
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


# ---- arguments ----


def changed_options(current: Options, options: OptionValues) -> Options:
    """Return a copy with these options set. ValueError for one that the search does not heed, or a refused value."""
    changed = copy.deepcopy(current)
    for name, text in option_texts(options).items():
        if name not in HEEDED:
            raise ValueError(f"Engine has no option '{name}'; it has {', '.join(HEEDED)}")
        if refusal := changed.set(name, text):
            raise ValueError(refusal)
        if DECLARED[name].kind == "spin":
            checked_spin(name, int(float(text)))
    return changed


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
    checked_number(name, number, *DECLARED[name].limits)


def checked_moves(moves: Sequence[str] | None) -> Sequence[str] | None:
    """Raise ValueError for an empty list."""
    if moves is not None and not moves:
        raise ValueError("no moves to search")
    return moves
