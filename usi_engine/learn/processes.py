"""Processes of this machine that do tasks. The task of a killed process is done again."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from typing import Any

MOST_REPEATS = 2  # of a task whose process was killed
KILLED = f"a worker process was killed {MOST_REPEATS + 1} times in one task; perhaps there was no memory left"


class Processes:
    """Processes on this machine. If one is killed, the executor ends; a new one does the unfinished tasks again."""

    def __init__(self, work: Any, processes: int) -> None:
        self._work, self._processes = work, processes
        self._tasks: list[_Repeated] = []  # not known to be finished
        self.start()

    def start(self) -> None:
        self.executor = ProcessPoolExecutor(self._processes, get_context("spawn"), _start, (self._work,))

    def submit(self, task: Any) -> _Repeated:
        self._tasks = [other for other in self._tasks if not other.done()]
        self._tasks.append(_Repeated(self, task))
        return self._tasks[-1]

    def repeat(self) -> None:
        """Start again after a process was killed. ChildProcessError if it was the last attempt at a task."""
        self.executor.shutdown()  # all its tasks are finished or have failed
        self.start()
        for task in self._tasks:
            task.repeat()

    def size(self) -> int:
        return self._processes

    def close(self) -> None:
        self.executor.shutdown(cancel_futures=True)


class _Repeated:
    """A task that is submitted again if a process is killed."""

    def __init__(self, pool: Processes, task: Any) -> None:
        self._pool, self._task, self._repeats = pool, task, 0
        self._future: Future[Any] = Future()
        self._future.set_exception(BrokenProcessPool())
        self._submit()

    def _submit(self) -> None:
        with suppress(BrokenProcessPool):  # then it has failed
            self._future = self._pool.executor.submit(_do, self._task)

    def _failed(self) -> bool:
        return isinstance(self._future.exception(), BrokenProcessPool)

    def done(self) -> bool:
        return self._future.done() and not self._failed()

    def ended(self) -> bool:
        return self._future.done()

    def repeat(self) -> None:
        if self._failed():
            self._repeats += 1
            if self._repeats > MOST_REPEATS:
                raise ChildProcessError(KILLED)
            self._submit()

    def result(self) -> Any:
        while self._failed():  # waits
            self._pool.repeat()
        return self._future.result()


# The work of a worker process, and its state. The first task makes the state, so that an error reaches the caller.
_work: list[Any] = []  # learn.pool.Work
_state: list[Any] = []


def _start(work: Any) -> None:
    """Prepare a worker process: it ends silently at Ctrl-C, which it receives too, and with its parent."""
    _work.append(work)
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    try:
        parent = parent_process()
        if parent is not None:
            parent.join()
    finally:
        os._exit(1)


def _do(task: Any) -> Any:
    if not _state:
        _state.append(_work[0].new_state())
    return _work[0].do(_state[0], task)
