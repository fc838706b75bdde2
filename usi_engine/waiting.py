"""Waiting that Ctrl-C ends.

Only the main thread gets it, while it runs Python code; on Windows only between two waits.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
WATCH_SECONDS = 0.1  # between two checks for Ctrl-C


def wait_until(happens: Callable[[float], object]) -> None:
    """Call `happens`, such as an event's `wait`, with a limit of seconds until it is true. KeyboardInterrupt."""
    while not happens(WATCH_SECONDS):
        pass


def next_item(items: queue.SimpleQueue[T]) -> T:
    """Return the next item. KeyboardInterrupt."""
    while True:
        with suppress(queue.Empty):
            return items.get(timeout=WATCH_SECONDS)


def result_of(future: Future[T]) -> T:
    """Return the result of a future. KeyboardInterrupt."""
    wait_until(lambda seconds: wait([future], seconds).done)
    return future.result()


def run_interruptibly(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """Run `work` on another thread, and return its result or raise its error.

    Each Ctrl-C calls `stop`; then KeyboardInterrupt is raised when the work has ended. Up to Python 3.12 an interrupted
    Thread.join takes the thread for dead, hence the event.
    """
    ended, results, errors = threading.Event(), list[T](), list[BaseException]()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    threading.Thread(target=run, name="work", daemon=True).start()
    while not ended.is_set():
        try:
            ended.wait(WATCH_SECONDS)
        except KeyboardInterrupt as interrupt:
            errors.insert(0, interrupt)
            stop()
    if errors:
        raise errors[0]
    return results[0]
