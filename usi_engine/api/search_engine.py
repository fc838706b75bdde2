"""The interface that Engine and UsiEngine share: one caller at a time, streams, `with` blocks."""

from __future__ import annotations

import os
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from usi_engine.core import Board, MoveLike
from usi_engine.search.results import Analysis, Limit, PlayResult, Watch, copy_of, limit_of
from usi_engine.usi.options import Option
from usi_engine.usi.protocol import Go
from usi_engine.waiting import Task, next_item

if TYPE_CHECKING:
    from typing_extensions import Self

# Values of options by name; None for a button, which has no value.
OptionValues: TypeAlias = "Mapping[str, str | int | bool | None]"


def check_process(process: int) -> None:
    """Raise RuntimeError if another process made the object: `fork()` copies it, but not its threads."""
    if os.getpid() != process:
        raise RuntimeError("fork() does not copy the threads of an engine: make a new one in this process")


class AnalysisStream:
    """A running search: iterate it for the results so far, or take `result()` at its end.

    Use it in a `with` block, whose end stops the search. An error of the search is raised by the iteration, by
    `result()`, or at the end of the block.
    """

    def __init__(self, search: Callable[[Watch], Analysis], stop: Callable[[], None]) -> None:
        self._process, self._stop, self._stopped = os.getpid(), stop, False
        self._parts = queue.SimpleQueue[Analysis | None]()
        self._task = Task(lambda: search(self._watch))
        threading.Thread(target=self._run, name="analysis", daemon=True).start()

    def __enter__(self) -> AnalysisStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        self.stop()
        while not self._task.poll():
            self.stop()  # repeatedly, because a search that begins forgets it
        if kind is None:
            self._task.result()

    def __iter__(self) -> AnalysisStream:
        return self

    def __next__(self) -> Analysis:
        check_process(self._process)
        part = next_item(self._parts)
        if part is not None:
            return part
        self._parts.put(None)  # for further calls
        self.result()
        raise StopIteration

    def stop(self) -> None:
        """End the search, which still gives its result."""
        self._stopped = True
        self._stop()

    def result(self) -> Analysis:
        """Wait for the end of the search and return its result."""
        check_process(self._process)
        return self._task.result()

    def _run(self) -> None:
        self._task.carry_out()
        self._parts.put(None)

    def _watch(self, found: Analysis) -> None:
        self._parts.put(found)
        if self._stopped:
            self._stop()


class SearchEngine(ABC):
    """An engine that one thread at a time may call, in the process that made it: others get a RuntimeError."""

    def __init__(self) -> None:
        self._process, self._turn, self._closed = os.getpid(), threading.Lock(), False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def analyse(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
        multipv: int = 1,
        moves: Iterable[MoveLike] | None = None,
        watch: Watch | None = None,
    ) -> Analysis:
        """Search a position with its game history until `nodes`, `depth` or `time` (seconds) is reached.

        Give at least one of them, or a `limit`. `multipv`: number of lines. `moves`: the only root moves to search;
        another engine must know `searchmoves`. `watch` is called with each result so far, by Engine on another thread.
        The transposition table keeps the entries of earlier searches, see `new_game`. Ctrl-C stops the search within
        0.1 s. Another engine that ignores its time is stopped a second later. ValueError for a limit out of range or an
        illegal move.
        """
        end, position = limit_of(limit, nodes, depth, time), copy_of(board)
        end.check()
        return self._search(position, end.go(checked_moves(position, moves)), multipv, watch)

    def analysis(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
        multipv: int = 1,
        moves: Iterable[MoveLike] | None = None,
    ) -> AnalysisStream:
        """Search on another thread and return the stream of results, one a depth; for a `with` block.

        Arguments as for `analyse`, but without a limit the search goes on until the end of the block or `stop()`.
        """
        end, position = limit_of(limit, nodes, depth, time), copy_of(board)
        if end != Limit():
            end.check()
        go = end.go(checked_moves(position, moves))
        return AnalysisStream(lambda watch: self._search(position, go, multipv, watch), self.stop)

    def play(
        self,
        board: Board,
        limit: Limit | None = None,
        *,
        nodes: int | None = None,
        depth: int | None = None,
        time: float | None = None,
    ) -> PlayResult:
        """Choose a move: with clocks in the limit, time is allotted as in a game. ValueError as in `analyse`."""
        end = limit_of(limit, nodes, depth, time)
        end.check()
        return self._play(copy_of(board), end.go())

    @property
    @abstractmethod
    def options(self) -> dict[str, Option]:
        """The options by name, with type, default and range; as text, as USI declares them."""

    @abstractmethod
    def configure(self, options: OptionValues) -> None:
        """Set options. ValueError if there is none of a name or a value is refused."""

    @abstractmethod
    def new_game(self) -> None:
        """Begin a game: forget what earlier searches found."""

    @abstractmethod
    def stop(self) -> None:
        """End the search of another thread, which returns its result so far."""

    @abstractmethod
    def close(self) -> None:
        """End the engine; further calls get a RuntimeError. It may be called twice."""

    @abstractmethod
    def _play(self, board: Board, go: Go) -> PlayResult:
        """Choose a move within the limits; the board may be changed."""

    @abstractmethod
    def _search(self, board: Board, go: Go, multipv: int, watch: Watch | None) -> Analysis:
        """Search until the limits, or until `stop` without one."""

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Let one thread at a time in. RuntimeError for a second one, after `close`, and in another process."""
        check_process(self._process)
        if not self._turn.acquire(blocking=False):
            raise RuntimeError("the engine is searching: an analysis is open, or another thread uses it")
        try:
            if self._closed:
                raise RuntimeError("the engine is closed")
            yield
        finally:
            self._turn.release()


def option_texts(options: OptionValues) -> dict[str, str]:
    """Return the values as USI text: `true` and `false` for a bool, nothing for a button."""
    words = {True: "true", False: "false", None: ""}
    return {
        name: words[value] if value is None or isinstance(value, bool) else str(value)
        for name, value in options.items()
    }


def checked_moves(board: Board, moves: Iterable[MoveLike] | None) -> tuple[str, ...]:
    """Return the texts of the moves to search, none for all. ValueError for an empty list or an illegal move."""
    from core_ext.board import move_to_usi  # noqa: PLC0415  (the core is loaded late)

    chosen = () if moves is None else tuple(moves)
    if moves is not None and not chosen:
        raise ValueError("no moves to search")
    for move in chosen:
        if not board.is_legal(move):
            raise ValueError(f"illegal move {move!r}")
    return tuple(map(move_to_usi, chosen))
