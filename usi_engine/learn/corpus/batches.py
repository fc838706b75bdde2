"""Shuffled batches of a corpus, memory-mapped from disk.

An epoch takes the blocks of the file in random order, GROUP_BLOCKS at a time, and shuffles each group. The order
depends only on the seed and the epoch, so training can resume at any batch, and several processes share the batches.
"""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from core_ext.corpus import TRAINING_POSITION, check_positions
from usi_engine.learn.corpus.build import Positions
from usi_engine.learn.corpus.files import PositionFile

BLOCK_BATCHES = 4
GROUP_BLOCKS = 16  # 2^20 positions (64 batches of 16,384), 100 MB
READERS = 2  # groups read at a time: one thread reads 4 million positions a second
POSITION_WORDS = TRAINING_POSITION.itemsize // 8  # numpy moves words faster than structures


class Batches:
    """Batches of `size` positions of a file that is not empty; process `rank` of `ranks` yields its part of each.

    The readers apply `convert` to whole groups of positions. Its result is sliced into batches.
    """

    def __init__(
        self,
        file: PositionFile,
        size: int,
        seed: int,
        rank: int = 0,
        ranks: int = 1,
        *,
        convert: Callable[[Positions], Any] = np.asarray,
    ) -> None:
        self.file, self.seed, self.rank, self.convert = file, seed, rank, convert
        self.positions = file.count
        self.size = min(size, self.positions) // ranks * ranks
        if not self.size:
            raise ValueError(f"{self.positions} positions are too few for {ranks} processes")
        self.part = self.size // ranks
        self.per_epoch = self.positions // self.size  # the rest of an epoch, less than a batch, is left out
        with file.path.open("rb") as opened:
            self.map = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        self.words = np.frombuffer(self.map, np.uint64, self.positions * POSITION_WORDS).reshape(-1, POSITION_WORDS)

    def from_batch(self, number: int, total: int) -> Iterator[Any]:
        """Yield the batches from `number` to `total`, counted through all epochs; next groups are read meanwhile."""
        following = first = number - number % self.per_epoch % self.group_batches
        pending: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(READERS) as readers:
            while first < total:
                while len(pending) <= READERS and following < total:
                    pending.append(readers.submit(self.read_group, following))
                    following += self.batches_of_group(following)
                group, end = pending.popleft().result(), first + self.batches_of_group(first)
                for at in range(max(number, first), min(end, total)):
                    yield group[(at - first) * self.part : (at - first + 1) * self.part]
                first = end

    @property
    def group_batches(self) -> int:
        return BLOCK_BATCHES * GROUP_BLOCKS

    def batches_of_group(self, number: int) -> int:
        """Return the number of batches in the group of batch `number`."""
        start = number % self.per_epoch // self.group_batches * self.group_batches
        return min(self.group_batches, self.per_epoch - start)

    def read_group(self, number: int) -> Any:
        """Read this process's part of the group of batch `number`, shuffled, and convert it. ValueError if damaged."""
        epoch, batch = divmod(number, self.per_epoch)
        group = batch // self.group_batches
        block = BLOCK_BATCHES * self.size
        whole, rest = divmod(self.positions, block)
        order = np.random.default_rng((self.seed, epoch)).permutation(whole)
        starts = [int(place) * block for place in order] + [whole * block] * (rest > 0)  # a short block goes last
        chosen = starts[group * GROUP_BLOCKS : (group + 1) * GROUP_BLOCKS]
        rows = np.concatenate([np.arange(start, min(start + block, self.positions)) for start in chosen])
        self.read_ahead(chosen, block)
        shuffled = np.random.default_rng((self.seed, epoch, group)).permutation(rows)
        batches = shuffled[: self.batches_of_group(number) * self.size].reshape(-1, self.size)
        mine = batches[:, self.rank * self.part : (self.rank + 1) * self.part].reshape(-1)
        positions: Positions = self.words[mine].view(TRAINING_POSITION).reshape(-1)
        try:
            check_positions(positions)
        except ValueError as error:
            raise ValueError(f"{self.file.path}, shuffled: {error}") from None
        return self.convert(positions)

    def read_ahead(self, starts: list[int], block: int) -> None:
        """Have the system read blocks in the order of the file; otherwise a cold disk is read page by page."""
        if not hasattr(mmap, "MADV_WILLNEED"):  # Windows
            return
        for start in starts:
            at = start * TRAINING_POSITION.itemsize // mmap.PAGESIZE * mmap.PAGESIZE
            self.map.madvise(mmap.MADV_WILLNEED, at, min(block * TRAINING_POSITION.itemsize, len(self.map) - at))
