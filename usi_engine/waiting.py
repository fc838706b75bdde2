"""Waiting that Ctrl-C ends.

Only the main thread gets it, while it runs Python code; on Windows only between two waits.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
WATCH_SECONDS = 0.1  # between two checks for Ctrl-C


class Task(Generic[T]):
    """A call that another thread carries out. Unlike a Future it is whole after an interrupt of a wait for it."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call, self._results, self._ended = call, list[T](), queue.SimpleQueue[None]()
        self._error: BaseException | None = None

    def carry_out(self) -> None:
        """Call the function on this thread."""
        try:
            self._results.append(self._call())
        except BaseException as error:
            self._error = error
        self._ended.put(None)

    @property
    def _has_ended(self) -> bool:
        return bool(self._results) or self._error is not None

    def poll(self) -> bool:
        """Wait, but not longer than WATCH_SECONDS, and return whether the call has ended."""
        with suppress(queue.Empty):
            if not self._has_ended:
                self._ended.get(timeout=WATCH_SECONDS)
        return self._has_ended

    def result(self) -> T:
        """Wait for the result. KeyboardInterrupt; the error of the call."""
        while not self.poll():
            pass
        if self._error is not None:
            raise self._error
        return self._results[0]


def next_item(items: queue.SimpleQueue[T]) -> T:
    """Return the next item. KeyboardInterrupt."""
    while True:
        with suppress(queue.Empty):
            return items.get(timeout=WATCH_SECONDS)


def result_of(future: Future[T]) -> T:
    """Return the result of a future. KeyboardInterrupt."""
    while not wait([future], WATCH_SECONDS).done:
        pass
    return future.result()


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Run `work` on another thread, and return its result or raise its error.

    Each Ctrl-C calls `stop`; then KeyboardInterrupt is raised when the work has ended. Up to Python 3.12 an interrupted
    Thread.join takes the thread for dead, hence the task.
    """
    task, interrupts, ended = Task(work), list[KeyboardInterrupt](), False
    threading.Thread(target=task.carry_out, name="work", daemon=True).start()
    while not ended:
        try:
            ended = task.poll()
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            stop()
    if interrupts:
        raise interrupts[0]
    return task.result()
