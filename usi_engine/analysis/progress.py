"""Progress of a long run on standard error: tqdm's bar where it is installed, else a plain one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from usi_engine.tools.mate import Progress


@contextmanager
def progress(total: int, name: str) -> Iterator[Callable[[], None]]:
    """Yields what is to be called after each of `total` steps. Nothing is shown where standard error is no terminal."""
    try:
        tqdm = import_module("tqdm")
    except ImportError:
        yield plain(total)
        return
    with tqdm.tqdm(total=total, desc=name, unit="pos", file=sys.stderr, disable=None, leave=False) as bar:
        yield bar.update


def plain(total: int) -> Callable[[], None]:
    """A bar and the count."""
    bar, done = Progress(total, sys.stderr), 0

    def step() -> None:
        nonlocal done
        done += 1
        bar.show(done)

    return step
