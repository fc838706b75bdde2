"""A search that runs on another thread while its results so far are read."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait

from usi_engine.search.results import Analysis, Watch
from usi_engine.waiting import WATCH_SECONDS, next_item, result_of


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
        self._found = Future[Analysis]()
        threading.Thread(target=self._run, args=(search,), name="analysis", daemon=True).start()

    def __enter__(self) -> AnalysisStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        while not self._found.done():
            self.stop()  # repeatedly, because a search that begins forgets it
            wait([self._found], WATCH_SECONDS)
        if kind is None:
            self._found.result()

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
        return result_of(self._found)

    def _run(self, search: Callable[[Watch], Analysis]) -> None:
        try:
            self._found.set_result(search(self._watch))
        except BaseException as error:
            self._found.set_exception(error)
        finally:
            self._parts.put(None)

    def _watch(self, found: Analysis) -> None:
        self._parts.put(found)
        if self._stopped:
            self._stop()
