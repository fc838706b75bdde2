"""Work for the tests of the pool, which worker processes import by name."""

import os
import time
from pathlib import Path


def new_counter(start: int) -> list[int]:
    """Return a state: a count of the tasks of this process, from `start`."""
    if start < 0:
        raise ValueError(f"no start: {start}")
    return [start]


def slow_square(counter: list[int], task: int) -> tuple[int, int, int]:
    """Return the square, the process and its count. Task 13 fails; early tasks take longest."""
    if task == 13:
        raise ValueError("no thirteen")
    time.sleep(max(5 - task, 0) * 0.01)
    counter[0] += 1
    return task * task, os.getpid(), counter[0]


def die_at_first(_: list[int], task: tuple[str, int]) -> str:
    """Note the attempt in a file; end the process, as the system does when memory runs out, in some first attempts."""
    file, times = task
    with Path(file).open("a", encoding="utf-8") as notes:
        notes.write("x")
    if Path(file).stat().st_size <= times:
        os._exit(1)
    return file


def weights_and_contents(*weights: str) -> list[tuple[str, dict[str, bytes]]]:
    """Return the names of weights with the contents of their folders."""
    folders = [Path(name).parent for name in weights]
    contents = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders if folder.name)
    return [(name, next(contents) if Path(name).parent.name else {}) for name in weights]


def same_weights(state: list[tuple[str, dict[str, bytes]]], _: int) -> list[tuple[str, dict[str, bytes]]]:
    return state


def wait_until_there(_: list[int], task: str) -> str:
    """Return the path when it exists."""
    while not Path(task).exists():
        time.sleep(0.01)
    return task


def wait_for(_: list[int], task: str) -> str:
    """Write this process's number to a file and wait."""
    Path(task).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(600)
    return task


def main() -> None:
    """Run two processes, until this one is killed."""
    import sys  # noqa: PLC0415

    from usi_engine.workers import Work  # noqa: PLC0415

    list(Work(new_counter, (0,), wait_for).results(sys.argv[1:], 2))


if __name__ == "__main__":
    main()
