"""Shuffled batches of a corpus, streamed from disk.

An epoch takes the blocks of the file in random order, GROUP_BLOCKS at a time, and shuffles each group in memory. The
order depends only on the seed and the epoch, so training can resume at any batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from core_ext.corpus import TRAINING_POSITION
from usi_engine.learn.corpus.build import Positions
from usi_engine.learn.corpus.files import PositionFile

BLOCK_BATCHES = 16
POSITION_WORDS = TRAINING_POSITION.itemsize // 8
GROUP_BLOCKS = 16  # 2^20 positions (256 batches of 4,096), 100 MB; two groups are in memory


class Batches:
    """Batches of `size` positions of a file that is not empty."""

    def __init__(self, file: PositionFile, size: int, seed: int) -> None:
        self.file, self.seed = file, seed
        self.positions = file.count
        self.size = min(size, self.positions)
        self.per_epoch = self.positions // self.size  # the rest of an epoch, less than a batch, is left out

    def from_batch(self, number: int, total: int) -> Iterator[Positions]:
        """Yield the batches from `number` to `total`, counted through all epochs; the next group is read meanwhile."""
        with ThreadPoolExecutor(1) as reader:
            pending: Future[Positions] | None = None
            while number < total:
                group = pending.result() if pending else self.read_group(number)
                batches = self.batches_of_group(number)
                following = number - number % self.per_epoch % self.group_batches + batches
                pending = reader.submit(self.read_group, following) if following < total else None
                for at in range(number % self.per_epoch % self.group_batches, batches):
                    if number < total:
                        yield group[at * self.size : (at + 1) * self.size]
                        number += 1

    @property
    def group_batches(self) -> int:
        return BLOCK_BATCHES * GROUP_BLOCKS

    def batches_of_group(self, number: int) -> int:
        """Return the number of batches in the group of batch `number`."""
        start = number % self.per_epoch // self.group_batches * self.group_batches
        return min(self.group_batches, self.per_epoch - start)

    def read_group(self, number: int) -> Positions:
        """Read and shuffle the group of batch `number`."""
        epoch, batch = divmod(number, self.per_epoch)
        group = batch // self.group_batches
        block = BLOCK_BATCHES * self.size
        whole, rest = divmod(self.positions, block)
        order = np.random.default_rng((self.seed, epoch)).permutation(whole)
        starts = [int(place) * block for place in order] + [whole * block] * (rest > 0)  # a short block goes last
        chosen = starts[group * GROUP_BLOCKS : (group + 1) * GROUP_BLOCKS]
        words = self.read_blocks(chosen, block)
        places = np.random.default_rng((self.seed, epoch, group)).permutation(len(words))
        return words[places].view(TRAINING_POSITION).reshape(-1)

    def read_blocks(self, starts: list[int], block: int) -> npt.NDArray[np.uint64]:
        """Read the blocks at these positions as words, which numpy moves faster; the last may be short."""
        parts = [self.file.read(start, block).view(np.uint64) for start in starts]
        return np.concatenate(parts).reshape(-1, POSITION_WORDS)
