"""A data set of PyTorch: the positions of files, converted and shuffled."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch.utils.data

from usi_engine.learn.corpus.positions import positions, shuffled
from usi_engine.learn.game import LabelledPosition


class PositionDataset(torch.utils.data.IterableDataset[Any]):  # type: ignore[misc]
    """`convert(position)` of every position, in a new order for each `epoch`, which may be set before each pass.

    `buffer` positions are held to be shuffled, 0 for the order of the files. The workers of a DataLoader share the
    files out: give them at least as many files as workers. `on_fault` as for `positions`.
    """

    def __init__(
        self,
        files: Iterable[str | os.PathLike[str]],
        convert: Callable[[LabelledPosition], Any],
        buffer: int = 1 << 16,
        seed: int = 0,
        on_fault: Callable[[ValueError], object] | None = None,
    ) -> None:
        self.files, self.convert, self.buffer, self.seed, self.on_fault = list(files), convert, buffer, seed, on_fault
        self.epoch = 0

    def __iter__(self) -> Iterator[Any]:
        worker = torch.utils.data.get_worker_info()
        number, workers = (worker.id, worker.num_workers) if worker else (0, 1)
        files = list(shuffled(self.files, len(self.files) if self.buffer else 0, f"{self.seed} {self.epoch}"))
        own = positions(files[number::workers], self.on_fault)
        return map(self.convert, shuffled(own, self.buffer, f"{self.seed} {self.epoch} {number}"))
