"""Positions of files with their labels, one after the other or as a data set of PyTorch."""

import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from usi_engine.learn.corpus.sources import read_chunks
from usi_engine.learn.game import LabelledPosition, SourceError
from usi_engine.records.faults import Fault

AnyPath = str | os.PathLike[str]
Value = TypeVar("Value")


def positions(
    files: AnyPath | Iterable[AnyPath], on_fault: Callable[[ValueError], object] | None = None
) -> Iterator[LabelledPosition]:
    """Yield every position of files in the formats that `learn corpus` reads (docs/learning.md), in their order.

    A fault in a game or position is a ValueError that names its place, and is raised or passed to `on_fault`; the
    positions before it have been yielded. SourceError for a file of another format, OSError.
    """
    for path in [files] if isinstance(files, (str, os.PathLike)) else files:
        for chunk in read_chunks(Path(path)):
            for index, item in enumerate(chunk.items()):
                try:
                    if isinstance(item, Fault):
                        raise SourceError(item.reason)
                    yield from item.positions()
                except ValueError as error:
                    fault = SourceError(f"{chunk.place(index)}: {error}")
                    if on_fault is None:
                        raise fault from None
                    on_fault(fault)


def shuffled(values: Iterable[Value], size: int, seed: int | str = 0) -> Iterator[Value]:
    """Yield the values in an order that the seed decides: `size` of them are held, and each new one replaces one."""
    rng, held = random.Random(seed), list[Value]()
    for value in values:
        if len(held) < size:
            held.append(value)
        elif size:
            place = rng.randrange(size)
            yield held[place]
            held[place] = value
        else:
            yield value
    rng.shuffle(held)
    yield from held
