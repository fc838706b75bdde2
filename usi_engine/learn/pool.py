"""Work spread over processes, because the GIL slows threads down. Results come in the order of the tasks.

Each process makes a state once with `set_up` and gives it to `do` with every task. Both functions are found by name in
their module; tasks and results are pickled.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any, Generic, TypeVar

WAITING_TASKS = 8  # per process: running, or finished with a result not yet taken

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[State, Task, Result]):
    """Work of each process: `do(set_up(*arguments), task)` for every task."""

    set_up: Callable[..., State]
    arguments: tuple[Any, ...]
    do: Callable[[State, Task], Result]

    def results(self, tasks: Iterable[Task], processes: int) -> Iterator[Result]:
        """Yield the results in the order of the tasks; if `processes` is 1, work in this one.

        At most WAITING_TASKS tasks per process are taken in advance. An exception of a task is raised in its place;
        ChildProcessError if a process was killed.
        """
        if processes == 1:
            state = self.set_up(*self.arguments)
            yield from (self.do(state, task) for task in tasks)
            return
        pool = ProcessPoolExecutor(processes, get_context("spawn"), _start, (self,))
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(_do, task))
                while waiting and (waiting[0].done() or len(waiting) >= WAITING_TASKS * processes):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise ChildProcessError("a worker process was killed; perhaps there was no memory left") from None
        finally:
            pool.shutdown(cancel_futures=True)


# The work of a worker process, and its state. The first task makes the state, so that an error reaches the caller.
_work: list[Work[Any, Any, Any]] = []
_state: list[Any] = []


def _start(work: Work[Any, Any, Any]) -> None:
    """Prepare a worker process: it ends silently at Ctrl-C, which it receives too, and with its parent."""
    _work.append(work)
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _do(task: Any) -> Any:
    work = _work[0]
    if not _state:
        _state.append(work.set_up(*work.arguments))
    return work.do(_state[0], task)
