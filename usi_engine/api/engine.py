"""Python API of the engine.

with Engine(threads=2) as engine:
    found = engine.analyse(board, nodes=100_000, multipv=3)
print(found.move, found.score, found.pv)
"""

from __future__ import annotations

import copy
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from usi_engine.api.search_engine import OptionValues, SearchEngine, option_texts
from usi_engine.api.usi_process import UsiEngine
from usi_engine.core import Board, Evaluation, load_core
from usi_engine.evaluation.names import INTERNAL, MATERIAL
from usi_engine.search.iterative import ignore
from usi_engine.search.resources import Resources
from usi_engine.search.results import Analysis, PlayResult, Watch, checked_number, copy_of, decided
from usi_engine.search.search import chosen_move, search
from usi_engine.search.search_control import SearchControl
from usi_engine.search.spec import Spec, spec_of
from usi_engine.search.threads import Runner
from usi_engine.search.timeman import time_limits
from usi_engine.usi.options import DECLARED, Option, Options
from usi_engine.usi.protocol import Go
from usi_engine.waiting import WATCH_SECONDS

# A value of the option EvalFile, piece values by letter, or a loaded evaluation; None: usual piece values.
EvaluationSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, int] | Evaluation | None"
MEGABYTES = 64
OWN_DEFAULTS = {"Threads": 1, "USI_Hash": MEGABYTES}
# Options that concern only what is printed, `go mate`, or an argument of `analyse`.
NOT_OF_A_MOVE = {"MultiPV", "PvInterval", "ConsiderationMode", "MateShortest"}
OF_A_MOVE = {name: kind for name, kind in DECLARED.items() if name not in NOT_OF_A_MOVE}


class Engine(SearchEngine):
    """A search with its TT, threads and evaluation, kept until `close` or the end of a `with` block.

    `evaluation` is a value of the option EvalFile (`<internal>`, `kpp`, `material`, the path of a file), a mapping of
    piece values as for PieceValues, or a loaded evaluation; `options` are set as by `configure`. One thread at a time
    may call it, in the process that made it; others get a RuntimeError. WeightsError if the evaluation cannot be read,
    BookError, MemoryError, CoreError, ValueError; RuntimeError if no thread can be started.
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
        super().__init__()
        load_core()  # CoreError
        checked_spin("Threads", threads)
        checked_spin("USI_Hash", megabytes)
        own: dict[str, str | int | bool | None] = {"Threads": threads, "USI_Hash": megabytes}
        given = None
        if evaluation is None or isinstance(evaluation, str | os.PathLike):
            own["EvalFile"] = MATERIAL if evaluation is None else os.fspath(evaluation)
        elif "EvalFile" not in (options or {}):
            given = piece_values(evaluation) if isinstance(evaluation, Mapping) else evaluation
        chosen = changed_options(Options(), {**own, **(options or {})})
        tell = logging.getLogger(__name__).info
        self._resources: Resources | None = Resources(chosen, tell, strict=True, given=given)
        self._stop = self._resources.stop
        self._resources.load()
        self._runner = Runner("search")

    @property
    def options(self) -> dict[str, Option]:
        """The options by name, with type, default and range."""
        own = {name: replace(DECLARED[name], default=number) for name, number in OWN_DEFAULTS.items()}
        return {name: own.get(name, option) for name, option in OF_A_MOVE.items()}

    @property
    def threads(self) -> int:
        """The number of search threads, fewer than the option if the system refuses some."""
        with self._exclusive_resources() as resources:
            return len(resources.pool.workers)

    def configure(self, options: OptionValues) -> None:
        """Set options that concern a move; a new value of USI_Hash or EvalFile clears the TT.

        ValueError for an option it does not have or a refused value, WeightsError, BookError, MemoryError: no option is
        changed.
        """
        with self._exclusive_resources() as resources:
            before = resources.options, resources.given
            self._stop.clear()  # it would leave the TT's memory to the next search
            resources.options = changed_options(resources.options, options)
            resources.recheck_files()
            if "EvalFile" in options:
                resources.given = None
            try:
                resources.load()
            except BaseException:
                resources.options, resources.given = before
                resources.load()
                raise

    def static_value(self, board: Board) -> int:
        """Return the static value in centipawns for the side to move."""
        with self._exclusive_resources() as resources:
            return dict(resources.pool.main.evaluate(copy_of(board)))["total"]

    def new_game(self) -> None:
        """Forget earlier searches: at full strength the next one gives the same result as a new engine's."""
        with self._exclusive_resources() as resources:
            resources.new_game()

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
        while not self._turn.acquire(timeout=WATCH_SECONDS):
            self._stop.set()  # repeatedly, because a search that begins clears it
        self._resources = None
        self._turn.release()

    def _play(self, board: Board, go: Go) -> PlayResult:
        return chosen_move(*self._found(board, go))

    def _search(self, board: Board, go: Go, multipv: int, watch: Watch | None) -> Analysis:
        checked_spin("MultiPV", multipv)
        return self._found(board, go, watch, multipv=multipv)[2]

    def _found(
        self, board: Board, go: Go, watch: Watch | None = None, *, multipv: int = 0
    ) -> tuple[Spec, SearchControl, Analysis]:
        """Return the result of a search and what it was made from. `multipv`: lines of an analysis, 0 to play."""
        with self._exclusive_resources() as resources:
            spec = spec_of(resources.options, go, board, analysis=bool(multipv), multipv=multipv)
            self._end_search()  # one that a second interrupt left behind
            self._stop.clear()
            limits = time_limits(go, board.turn, board.ply, resources.options)
            control = SearchControl(self._stop, limits)

            def run() -> Analysis:
                try:
                    return search(resources, spec, control, on_result=watch or ignore)
                finally:
                    resources.wait_for_helpers()

            try:
                # On another thread: Ctrl-C reaches the calling one only in Python code.
                found = decided(board, spec.rules.declaration) or self._runner.submit(run).result()
            except KeyboardInterrupt:
                self._end_search()
                raise
            return spec, control, found

    @contextmanager
    def _exclusive_resources(self) -> Iterator[Resources]:
        """Let one thread at a time in; free the memory if `close` was called in the meantime. RuntimeError."""
        with self._exclusive():
            assert self._resources is not None
            try:
                yield self._resources
            finally:
                if self._closed:
                    self._resources = None

    def _end_search(self) -> None:
        """End the search of the other thread, if any."""
        self._stop.set()
        self._runner.join()


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
    """Return a copy with these options set. ValueError for one that concerns no move, or a refused value."""
    changed, names = copy.deepcopy(current), {name.lower(): name for name in OF_A_MOVE}
    for text_name, text in option_texts(options).items():
        name = names.get(text_name.lower())
        if name is None:
            raise ValueError(f"Engine has no option '{text_name}'; it has {', '.join(OF_A_MOVE)}")
        if refusal := changed.set(name, text):
            raise ValueError(refusal)
        if DECLARED[name].kind == "spin":
            checked_spin(name, int(float(text)))
    return changed


def piece_values(values: Mapping[str, int]) -> Evaluation:
    """Return the evaluation with these values by letter. ValueError."""
    from core_ext.engine import PieceValues  # noqa: PLC0415  (the core is loaded by load_core)

    return PieceValues(values)


def checked_spin(name: str, number: int) -> None:
    """Raise ValueError for a number out of the range of this option."""
    checked_number(name, number, *DECLARED[name].limits)
