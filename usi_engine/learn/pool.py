"""Work spread over processes, because the GIL slows threads down. Results come in the order of the tasks.

Each process makes a state once with `set_up` and gives it to `do` with every task. Both functions are found by name in
their module; tasks and results are pickled. The processes are on this machine, or workers of a Dask cluster.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from usi_engine.learn.processes import Processes

POLL_SECONDS = 0.02
WAITING_TASKS = 8  # per process: running, or finished with a result not yet taken

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[State, Task, Result]):
    """Work of each process: `do(set_up(*arguments, *weights), task)` for every task.

    `weights` names evaluations; their files are sent to the workers of a cluster.
    """

    set_up: Callable[..., State]
    arguments: tuple[Any, ...]
    do: Callable[[State, Task], Result]
    weights: tuple[str, ...] = ()

    def new_state(self) -> State:
        return self.set_up(*self.arguments, *self.weights)

    def results(
        self, tasks: Iterable[Task], processes: int, scheduler: str = "", in_order: bool = True
    ) -> Iterator[Result]:
        """Yield the results in the order of the tasks; without a scheduler, if `processes` is 1, work in this one.

        `scheduler` is HOST:PORT of a Dask scheduler, whose workers are used instead of processes. At most WAITING_TASKS
        tasks per process are taken in advance. If `in_order` is False, results come as they are ready, and a task is
        taken when a process is free. An exception of a task is raised in its place. If a process is killed, its task
        is done again, MOST_REPEATS times, then ChildProcessError. ConnectionError if a cluster fails.
        """
        yielded = _in_order if in_order else _as_done
        if scheduler:
            from usi_engine.learn.cluster import Cluster  # noqa: PLC0415  (an extra)

            return yielded(Cluster(scheduler, self), tasks)
        if processes == 1:
            state = self.new_state()
            return (self.do(state, task) for task in tasks)
        return yielded(Processes(self, processes), tasks)


class Pool(Protocol):
    """Processes that do tasks. `submit` returns a future, whose `ended` is True if it is done or failed."""

    def submit(self, task: Any) -> Any: ...
    def size(self) -> int: ...
    def close(self) -> None: ...


def _in_order(pool: Pool, tasks: Iterable[Any]) -> Iterator[Any]:
    waiting: deque[Any] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(task))
            while waiting and (waiting[0].done() or len(waiting) >= WAITING_TASKS * pool.size()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.close()


def _as_done(pool: Pool, tasks: Iterable[Any]) -> Iterator[Any]:
    left, running = iter(tasks), list[Any]()
    try:
        while True:
            running += map(pool.submit, islice(left, max(pool.size() - len(running), 0)))
            if not running:
                return
            while not (ended := [task for task in running if task.ended()]):
                time.sleep(POLL_SECONDS)
            running.remove(ended[0])
            yield ended[0].result()
    finally:
        pool.close()
