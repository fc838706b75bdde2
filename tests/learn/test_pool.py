"""Work in processes: order of results, errors, clean end."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.learn.pool_work import die_at_first, new_counter, slow_square, wait_for, wait_until_there
from usi_engine.workers import WAITING_TASKS, Processes, Work

WORK = Work(new_counter, (100,), slow_square)


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order_however_long_each_takes(processes: int) -> None:
    found = list(WORK.results(range(12), processes))
    assert [square for square, _, _ in found] == [task * task for task in range(12)]
    assert len({process for _, process, _ in found}) <= processes
    assert (os.getpid() in {process for _, process, _ in found}) == (processes == 1)
    counts = {process: max(count for _, its, count in found if its == process) for _, process, _ in found}
    assert sum(counts.values()) == 100 * len(counts) + 12  # each process has a state of its own


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_is_raised_in_the_place_of_its_result(processes: int) -> None:
    """One of the set-up at once."""
    results = WORK.results(range(12, 15), processes)
    assert next(results)[0] == 144
    with pytest.raises(ValueError, match="no thirteen"):
        next(results)
    with pytest.raises(ValueError, match="no start: -1"):
        list(Work(new_counter, (-1,), slow_square).results(range(3), processes))


def test_results_as_they_are_ready(tmp_path: Path) -> None:
    """The first task waits for a file. A task is taken when a process is free."""
    late, taken = tmp_path / "late", list[Path]()

    def tasks() -> Iterator[str]:
        for path in (late, tmp_path, tmp_path):
            taken.append(path)
            yield str(path)

    results = Work(new_counter, (0,), wait_until_there).results(tasks(), 2, in_order=False)
    assert next(results) == str(tmp_path)
    assert len(taken) == 2
    assert next(results) == str(tmp_path)
    late.touch()
    assert list(results) == [str(late)]


@pytest.mark.parametrize("in_order", [True, False])
def test_the_task_of_a_killed_process_is_done_again(tmp_path: Path, in_order: bool) -> None:
    """Twice; then it is an error of one line."""
    tasks = [(str(tmp_path / str(number)), 2 if number == 5 else 0) for number in range(20)]
    work = Work(new_counter, (0,), die_at_first)
    found = list(work.results(tasks, 2, in_order=in_order))
    assert (found if in_order else sorted(found)) == (list if in_order else sorted)(file for file, _ in tasks)
    with pytest.raises(ChildProcessError, match="a worker process was killed 3 times in one task"):
        list(work.results([(str(tmp_path / "21"), 9)], 2, in_order=in_order))
    assert [(tmp_path / name).stat().st_size for name in ("5", "21")] == [3, 3]


def test_tasks_are_taken_only_a_little_in_advance() -> None:
    taken = []

    def endless() -> Iterator[int]:
        for number in itertools.count(20):
            taken.append(number)
            yield number

    results = WORK.results(endless(), 2)
    for _ in range(5):
        next(results)
    results.close()  # type: ignore[attr-defined]  # a generator
    assert len(taken) <= 5 + 2 * WAITING_TASKS + 1


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    parent = subprocess.Popen([sys.executable, "-m", "tests.learn.pool_work", *map(str, files)])
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not any(is_running(int(file.read_text())) for file in files))


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_processes_end_with_tasks_that_are_not_wanted(tmp_path: Path) -> None:
    """Also if one was killed, as by Ctrl-C in a terminal."""
    files = [tmp_path / "one", tmp_path / "two"]
    processes = Processes(Work(new_counter, (0,), wait_for), 2)
    for file in files:
        processes.submit(str(file))
    wait_until(lambda: all(file.exists() and file.read_text() for file in files))
    os.kill(int(files[0].read_text()), signal.SIGKILL)
    processes.close()
    assert not any(is_running(int(file.read_text())) for file in files)


def wait_until(condition: object, seconds: float = 60) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False
