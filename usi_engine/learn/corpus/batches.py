"""Reading of a corpus for training: the card, files of positions, and shuffled batches, memory-mapped from disk.

Positions are checked as they are read. An epoch takes the blocks of the file in random order, GROUP_BLOCKS at a time,
and shuffles each group. The order depends only on the seed and the epoch, so training can resume at any batch, and
several processes share the batches.
"""

import hashlib
import json
import mmap
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.corpus import TRAINING_POSITION, check_positions
from usi_engine.learn.corpus.chances import Positions
from usi_engine.learn.files import CARD, HELD_OUT, TRAINING

BLOCK_BATCHES = 4
GROUP_BLOCKS = 16  # 2^20 positions (64 batches of 16,384), 100 MB
SAMPLES, SAMPLE_BYTES = 64, 1 << 14  # of each file, for the corpus's fingerprint
READERS = 2  # groups read at a time: one thread reads 4 million positions a second
ROW = np.dtype((np.void, TRAINING_POSITION.itemsize))  # numpy moves these faster than structures

Mirror = npt.NDArray[np.uint8]


class PositionFile:
    """The positions of a file, or only the first `limit` (0: all). OSError; ValueError if the last one is cut off."""

    def __init__(self, path: Path, limit: int = 0) -> None:
        self.path = path
        count, rest = divmod(path.stat().st_size, TRAINING_POSITION.itemsize)
        if rest:
            raise ValueError(f"{path} is damaged: it ends within position {count + 1}")
        self.count = min(limit, count) if limit else count

    def read(self, start: int = 0, count: int = -1) -> Positions:
        """Read `count` positions (-1: all) from `start` on, fewer at the end. OSError; ValueError if one is damaged."""
        wanted = min(count, self.count - start) if count >= 0 else self.count - start
        positions: Positions = np.fromfile(
            self.path, TRAINING_POSITION, wanted, offset=start * TRAINING_POSITION.itemsize
        )
        if len(positions) < wanted:
            raise ValueError(f"{self.path} has become shorter")
        try:
            check_positions(positions, start + 1)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        return positions


def training_file(corpus: Path, limit: int = 0) -> PositionFile:
    """Open the training positions. OSError; ValueError if there are none."""
    found = PositionFile(corpus / TRAINING, limit)
    if not found.count:
        raise ValueError(f"no positions in {found.path}")
    return found


def load_card(corpus: Path) -> dict[str, Any]:
    """Read the card. ValueError if it is damaged or old, or its counts differ from those of the files."""
    path = corpus / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(card, dict):
        raise ValueError(f"{path} is damaged: not an object")
    if card.get("position_bytes") != TRAINING_POSITION.itemsize:
        raise ValueError(f"{path} is of an older version of this program: make the corpus anew")
    for name, key in ((TRAINING, "training"), (HELD_OUT, "held_out")):
        count = PositionFile(corpus / name).count
        if card.get(key, count) != count:
            raise ValueError(f"{corpus / name} has {count} positions, but {CARD} says {card[key]}: make it anew")
    return card


def fingerprint(corpus: Path) -> str:
    """Hash the card, the sizes of the files and samples of them; all of 10 GB would take a minute. OSError."""
    found = hashlib.sha256((corpus / CARD).read_bytes())
    for name in (TRAINING, HELD_OUT):
        size = (corpus / name).stat().st_size
        found.update(size.to_bytes(8, "little"))
        with (corpus / name).open("rb") as file:
            for number in range(SAMPLES):
                file.seek(max(size - SAMPLE_BYTES, 0) * number // (SAMPLES - 1))
                found.update(file.read(SAMPLE_BYTES))
    return found.hexdigest()


class Batches:
    """Batches of `size` positions of a file that is not empty; process `rank` of `ranks` yields its part of each.

    A batch is positions and whether each is mirrored (0 or 1), as the readers' `convert` returns them for whole groups.
    """

    def __init__(
        self,
        file: PositionFile,
        size: int,
        seed: int,
        rank: int = 0,
        ranks: int = 1,
        *,
        convert: Callable[[Positions, Mirror], tuple[Any, Any]] = lambda positions, mirror: (positions, mirror),
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
        self.rows = np.frombuffer(self.map, ROW, self.positions)

    def from_batch(self, number: int, total: int) -> Iterator[tuple[Any, Any]]:
        """Yield the batches from `number` to `total`, counted through all epochs; next groups are read meanwhile."""
        following = first = number - number % self.per_epoch % self.group_batches
        pending: deque[Future[tuple[Any, Any]]] = deque()
        with ThreadPoolExecutor(READERS) as readers:
            while first < total:
                while len(pending) <= READERS and following < total:
                    pending.append(readers.submit(self.read_group, following))
                    following += self.batches_of_group(following)
                (positions, mirror), end = pending.popleft().result(), first + self.batches_of_group(first)
                for at in range(max(number, first), min(end, total)):
                    batch = slice((at - first) * self.part, (at - first + 1) * self.part)
                    yield positions[batch], mirror[batch]
                first = end

    @property
    def group_batches(self) -> int:
        return BLOCK_BATCHES * GROUP_BLOCKS

    def batches_of_group(self, number: int) -> int:
        """Return the number of batches in the group of batch `number`."""
        start = number % self.per_epoch // self.group_batches * self.group_batches
        return min(self.group_batches, self.per_epoch - start)

    def mirrored(self, number: int) -> Mirror:
        """Draw which positions of this process's part of batch `number` are mirrored."""
        bits = np.random.default_rng((self.seed, 1, number)).integers(0, 2, self.size)
        return bits[self.rank * self.part : (self.rank + 1) * self.part].astype(np.uint8)

    def read_group(self, number: int) -> tuple[Any, Any]:
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
        positions: Positions = self.rows.take(mine).view(TRAINING_POSITION)
        try:
            check_positions(positions)
        except ValueError as error:
            raise ValueError(f"{self.file.path}, shuffled: {error}") from None
        mirror = [self.mirrored(number + batch) for batch in range(self.batches_of_group(number))]
        return self.convert(positions, np.concatenate(mirror))

    def read_ahead(self, starts: list[int], block: int) -> None:
        """Have the system read blocks in the order of the file; otherwise a cold disk is read page by page."""
        if not hasattr(mmap, "MADV_WILLNEED"):  # Windows
            return
        for start in starts:
            at = start * TRAINING_POSITION.itemsize // mmap.PAGESIZE * mmap.PAGESIZE
            self.map.madvise(mmap.MADV_WILLNEED, at, min(block * TRAINING_POSITION.itemsize, len(self.map) - at))
