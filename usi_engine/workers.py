"""Work spread over processes, because the GIL slows threads down. Results come in the order of the tasks.

Each process makes a state once with `set_up` and gives it to `do` with every task. Both functions are found by name in
their module; tasks and results are pickled. The processes are on this machine, or workers of a Dask cluster.
"""

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, Protocol, TypeVar

POLL_SECONDS = 0.02
WAITING_TASKS = 8  # per process: running, or finished with a result not yet taken
MOST_REPEATS = 2  # of a task whose process was killed
KILLED = f"a worker process was killed {MOST_REPEATS + 1} times in one task; perhaps there was no memory left"

State = TypeVar("State")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Pending(Protocol):
    """A task of a worker. `result` waits; BrokenExecutor if its process was killed too often."""

    def done(self) -> bool: ...
    def result(self) -> Any: ...


class Workers(Protocol):
    """Processes that do tasks, `size` of them at a time."""

    def submit(self, task: Any) -> Pending: ...
    def size(self) -> int: ...
    def close(self) -> None: ...


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
        if scheduler:
            from usi_engine.cluster import Cluster  # noqa: PLC0415  (an extra)

            return _results(Cluster(scheduler, self, MOST_REPEATS), tasks, in_order)
        if processes == 1:
            state = self.new_state()
            return (self.do(state, task) for task in tasks)
        return _results(Processes(self, processes), tasks, in_order)


def _results(workers: Workers, tasks: Iterable[Any], in_order: bool) -> Iterator[Any]:
    left, waiting = iter(tasks), list[Pending]()
    most = WAITING_TASKS if in_order else 1  # per process
    try:
        while True:
            waiting += map(workers.submit, islice(left, max(most * workers.size() - len(waiting), 0)))
            if not waiting:
                return
            task = waiting[0] if in_order else _first_done(waiting)
            waiting.remove(task)
            yield task.result()
    except BrokenExecutor:
        raise ChildProcessError(KILLED) from None
    finally:
        workers.close()


def _first_done(waiting: list[Pending]) -> Pending:
    while not (done := [task for task in waiting if task.done()]):
        time.sleep(POLL_SECONDS)
    return done[0]


class Processes:
    """Processes on this machine. If one is killed, the executor ends; a new one does the unfinished tasks again."""

    def __init__(self, work: Work[Any, Any, Any], processes: int) -> None:
        self._work, self._processes = work, processes
        self._tasks: list[_ProcessTask] = []  # not known to be finished
        self._context = get_context("spawn")
        self._alive, self._end = self._context.Pipe(duplex=False)  # a process ends when the end is closed
        self._start()

    def _start(self) -> None:
        initial = self._work, self._alive
        self.executor = ProcessPoolExecutor(self._processes, self._context, _start, initial)

    def submit(self, task: Any) -> Pending:
        self._tasks = [other for other in self._tasks if other.was_killed() or not other.done()]
        self._tasks.append(_ProcessTask(self, task))
        return self._tasks[-1]

    def repeat(self) -> None:
        """Start again after a process was killed. BrokenExecutor if it was the last attempt at a task."""
        self.executor.shutdown()  # all its tasks are finished or have failed
        self._start()
        for task in self._tasks:
            if task.was_killed():
                task.submit()

    def size(self) -> int:
        return self._processes

    def close(self) -> None:
        if not all(task.done() for task in self._tasks):
            self._end.close()
        self.executor.shutdown(cancel_futures=True)


class _ProcessTask:
    """A task that is submitted again if a process is killed."""

    def __init__(self, processes: Processes, task: Any) -> None:
        self._processes, self._task, self._attempts = processes, task, 0
        self._future: Future[Any] = Future()
        self.submit()

    def submit(self) -> None:
        self._attempts += 1
        if self._attempts > 1 + MOST_REPEATS:
            raise BrokenExecutor
        try:
            self._future = self._processes.executor.submit(_do, self._task)
        except BrokenExecutor as error:
            self._future = Future()
            self._future.set_exception(error)

    def done(self) -> bool:
        return self._future.done()

    def was_killed(self) -> bool:
        return self._future.done() and isinstance(self._future.exception(), BrokenExecutor)

    def result(self) -> Any:
        while isinstance(self._future.exception(), BrokenExecutor):  # waits
            self._processes.repeat()
        return self._future.result()


# The work of a worker process, and its state. The first task makes the state, so that an error reaches the caller.
_work: list[Work[Any, Any, Any]] = []
_state: list[Any] = []


def _start(work: Work[Any, Any, Any], alive: Connection) -> None:
    """Prepare a worker process: it ends silently at Ctrl-C, which it may receive too, and when the other end of `alive`
    is closed: because its tasks are no longer wanted, or because its parent has ended.
    """
    _work.append(work)
    atexit.register(_state.clear)  # while what the end of a state needs is still there
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()


def _end_with(alive: Connection) -> None:
    try:
        alive.poll(None)
    finally:
        os._exit(1)


def _do(task: Any) -> Any:
    if not _state:
        _state.append(_work[0].new_state())
    return _work[0].do(_state[0], task)
