"""Work spread over processes, because the GIL slows threads down. Results come in the order of the tasks.

Each process makes a state once with `set_up` and gives it to `do` with every task. Both functions are found by name in
their module; tasks and results are pickled. The processes are on this machine, or workers of a Dask cluster.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from usi_engine.learn.processes import Processes

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

    def results(self, tasks: Iterable[Task], processes: int, scheduler: str = "") -> Iterator[Result]:
        """Yield the results in the order of the tasks; without a scheduler, if `processes` is 1, work in this one.

        `scheduler` is HOST:PORT of a Dask scheduler, whose workers are used instead of processes. At most WAITING_TASKS
        tasks per process are taken in advance. An exception of a task is raised in its place. If a process is killed,
        its task is done again, MOST_REPEATS times, then ChildProcessError. ConnectionError if a cluster fails.
        """
        if scheduler:
            from usi_engine.learn.cluster import Cluster  # noqa: PLC0415  (an extra)

            return _in_order(Cluster(scheduler, self), tasks)
        if processes == 1:
            state = self.new_state()
            return (self.do(state, task) for task in tasks)
        return _in_order(Processes(self, processes), tasks)


class Pool(Protocol):
    """Processes that do tasks. `submit` returns a future."""

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
