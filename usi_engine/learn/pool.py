"""Work spread over processes, with results in the order of the tasks: the interpreter's lock would cost threads speed.

A worker is a state, made once per process by `set_up`, and a function that is given the state and a task. Both have to
be found by name in their module, and tasks and results are pickled.
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

WAITING_TASKS = 8  # for each process: running, or done and not yet taken

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[State, Task, Result]):
    """What each process does: `do(set_up(*arguments), task)` for every task it is given."""

    set_up: Callable[..., State]
    arguments: tuple[Any, ...]
    do: Callable[[State, Task], Result]

    def results(self, tasks: Iterable[Task], processes: int) -> Iterator[Result]:
        """Results of the tasks, in their order; in this process where `processes` is 1.

        At most WAITING_TASKS tasks per process are taken in advance. An exception of a task is raised in its place;
        ChildProcessError where a process was killed.
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


# Of a worker process: its work, and the state once the first task needs it, so that an error reaches the caller.
_work: list[Work[Any, Any, Any]] = []
_state: list[Any] = []


def _start(work: Work[Any, Any, Any]) -> None:
    """Prepare a worker process. It ends without a word at Ctrl-C, which it is sent as well, and with its parent."""
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
