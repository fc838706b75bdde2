"""Conversion of games to a corpus: quiet positions, deduplicated, shuffled with a seed, split by game.

The positions (96 bytes each, see core_ext.corpus.TRAINING_POSITION) go first into buckets by their hash: equal
positions share a bucket, and a bucket is a random part of the whole. Then one bucket after the other is read, cleaned,
shuffled and appended to the corpus. Memory is needed for one bucket and some chunks of games.

Several processes may work on the chunks; the corpus does not depend on their number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from core_ext.corpus import TRAINING_POSITION, GameReader
from usi_engine.evaluation.load import load_evaluation
from usi_engine.learn.corpus.smoothing import smoothed
from usi_engine.learn.corpus.sources import Chunk, SkippedItems, chunks_of
from usi_engine.learn.files import atomic_write
from usi_engine.learn.game import Item, SourceError, ValuedMoves
from usi_engine.learn.pool import Work
from usi_engine.progress import Progress
from usi_engine.records.faults import Fault
from usi_engine.records.files import naming_errors, write_text

Positions = npt.NDArray[Any]
BUCKETS = 64
LONGEST_GAME = 2048  # positions
CHUNK_ROOM = 8 * LONGEST_GAME  # initial room of a chunk, in positions
BATCH = 1 << 16  # positions sorted into the buckets at a time
BOOK_MARGIN = 60  # centipawns: book moves further below the best of their position are left out
TRAINING, HELD_OUT, CARD = "training.bin", "held_out.bin", "corpus.json"


def mixed_hash(values: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """Return 64-bit hashes (the finalizer of splitmix64)."""
    mixed = values + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


def is_held_out(games: npt.NDArray[np.uint32], every: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return whether each game is held out: about one in `every`, never number 0."""
    drawn = mixed_hash(games.astype(np.uint64), seed) % np.uint64(every) == 0
    return np.asarray(drawn & (games != 0), dtype=np.bool_)


def write_positions(file: IO[bytes], positions: Positions) -> None:
    """Write all positions, even if an unbuffered file takes them in parts. OSError keeps its number, unlike numpy's."""
    left = np.ascontiguousarray(positions).view(np.uint8).data
    while left:
        left = left[file.write(left) :]


class Buckets:
    """Temporary files of positions, chosen by the hash of the position."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._seed = seed
        self.paths = [folder / f"bucket{number:02}.tmp" for number in range(BUCKETS)]
        self._files: list[IO[bytes]] = []
        try:
            self._files += (path.open("wb", buffering=0) for path in self.paths)
        except OSError:
            self.remove()
            raise

    def add(self, positions: Positions) -> None:
        bucket = mixed_hash(positions["key"], self._seed + 1) % np.uint64(BUCKETS)
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(BUCKETS), side="right")
        for path, file, chosen in zip(self.paths, self._files, np.split(positions[order], ends[:-1]), strict=True):
            with naming_errors(path):
                write_positions(file, chosen)

    def close(self) -> None:
        for file in self._files:
            file.close()

    def remove(self) -> None:
        self.close()
        for path in self.paths:
            path.unlink(missing_ok=True)


def deduplicated(
    positions: Positions, held_out: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return one index for each distinct position, and whether it is held out: if any of its games is."""
    order = np.lexsort((~held_out, positions["key"]))
    sorted_keys = positions["key"][order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    chosen = order[first]
    return chosen, held_out[chosen]


@dataclass
class ChunkPositions:
    """Positions of a chunk. Their games are numbered from 1 in the chunk; 0: never held out."""

    positions: Positions
    items: int
    skipped: SkippedItems


def new_reader(leaves: str | None) -> GameReader:
    """Return a reader that finds quiescence leaves by the weights of this name, if any. WeightsError."""
    return GameReader(None if leaves is None else load_evaluation(leaves))


@dataclass(frozen=True)
class ChunkTask:
    """A chunk, whether its games are numbered, and how much of later scores is mixed into each score."""

    chunk: Chunk
    numbered: bool = True
    smooth: float = 0.0


def read_chunk(reader: GameReader, task: ChunkTask) -> ChunkPositions:
    """Read the quiet positions of a chunk."""
    chunk = task.chunk
    out, used, items, skipped = np.zeros(CHUNK_ROOM, dtype=TRAINING_POSITION), 0, 0, SkippedItems()
    for items, item in enumerate(chunk.items(), 1):
        if used + LONGEST_GAME > len(out):
            out = np.concatenate([out, out])
        try:
            number = chunk.game(items - 1) if task.numbered else 0
            used += read_item(reader, item, number, out[used : used + LONGEST_GAME], task.smooth)
        except ValueError as error:
            skipped.add(chunk.place(items - 1), str(error))
    return ChunkPositions(out[:used], items, skipped)


def read_item(reader: GameReader, item: Item, number: int, out: Positions, smooth: float = 0.0) -> int:
    """Read an item's positions into `out`; return their number. ValueError if the item cannot be used."""
    if isinstance(item, Fault):
        raise SourceError(item.reason)
    if isinstance(item, ValuedMoves):
        return read_valued(reader, item, out)
    scores = smoothed(item.scores, smooth) if smooth else item.scores
    return reader.read_game(item.start, item.moves, scores, item.result, number, out)


def read_valued(reader: GameReader, item: ValuedMoves, out: Positions) -> int:
    """Read the quiet positions after the moves within BOOK_MARGIN of the best."""
    least = max(item.values, default=0) - BOOK_MARGIN
    kept = [pair for pair in zip(item.moves, item.values, strict=True) if pair[1] >= least]
    return reader.read_valued_moves(item.start, [move for move, _ in kept], [value for _, value in kept], out)


@dataclass
class Totals:
    """Counts of items and quiet positions so far."""

    items: int = 0
    positions: int = 0
    skipped: SkippedItems = field(default_factory=SkippedItems)


def renumbered(parts: Iterable[ChunkPositions], totals: Totals) -> Iterator[Positions]:
    """Yield the positions of all chunks, with games numbered from the first chunk on."""
    progress = Progress("games")
    for part in parts:
        numbers = part.positions["game"]
        numbers[numbers > 0] += totals.items
        totals.items += part.items
        totals.positions += len(part.positions)
        totals.skipped.join(part.skipped)
        progress.add(part.items, len(part.positions))
        yield part.positions


def batched(parts: Iterable[Positions]) -> Iterator[Positions]:
    """Yield the same positions in arrays of at least BATCH, except the last."""
    waiting: list[Positions] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= BATCH:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def finish(buckets: Buckets, folder: Path, every: int, seed: int, skipped: SkippedItems) -> tuple[int, int]:
    """Clean, shuffle and join the buckets; return the numbers of training and of held-out positions.

    The old corpus stays until the new one is complete. OSError; SourceError if there is no training position.
    """
    random = np.random.default_rng(seed)
    counts = [0, 0]
    with (
        atomic_write(folder / TRAINING) as training_part,
        atomic_write(folder / HELD_OUT) as held_out_part,
        open(training_part, "wb") as training,
        open(held_out_part, "wb") as held_out_file,
    ):
        for path in buckets.paths:
            positions = np.fromfile(path, dtype=TRAINING_POSITION)
            chosen, held_out = deduplicated(positions, is_held_out(positions["game"], every, seed))
            order = random.permutation(len(chosen))
            chosen, held_out = chosen[order], held_out[order]
            write_positions(training, positions[chosen[~held_out]])
            write_positions(held_out_file, positions[chosen[held_out]])
            counts = [counts[0] + int((~held_out).sum()), counts[1] + int(held_out.sum())]
            path.unlink()
        if not counts[0]:
            raise SourceError(f"no position to train with for {folder}{': ' if skipped.count else ''}{skipped.line}")
    return counts[0], counts[1]


def all_chunks(paths: Iterable[Path], also: Iterable[Path], smooth: float) -> Iterator[ChunkTask]:
    """Yield the chunks of all files in order; only games of `paths` are numbered."""
    yield from (ChunkTask(chunk, True, smooth) for path in paths for chunk in chunks_of(path))
    yield from (ChunkTask(chunk, False, smooth) for path in also for chunk in chunks_of(path))


def build_corpus(
    paths: Sequence[Path],
    folder: Path,
    every: int = 50,
    seed: int = 1,
    *,
    also: Sequence[Path] = (),
    leaves: str | None = None,
    smooth: float = 0.0,
    threads: int = 1,
) -> dict[str, Any]:
    """Read the files, write the corpus into `folder` and return its card. No game of `also` is held out.

    If `leaves` names weights, each position also gives its quiescence leaf by these weights. `smooth` is the share of
    later scores, as in `smoothed`. SourceError, OSError, WeightsError.
    """
    if not (paths or also):
        raise SourceError("no files of games")
    folder.mkdir(parents=True, exist_ok=True)
    buckets, totals = Buckets(folder, seed), Totals()
    try:
        parts = Work(new_reader, (leaves,), read_chunk).results(all_chunks(paths, also, smooth), threads)
        for positions in batched(renumbered(parts, totals)):
            buckets.add(positions)
        buckets.close()
        training, held_out = finish(buckets, folder, every, seed, totals.skipped)
    finally:
        buckets.remove()
    files = {"files": [path.name for path in paths], "files_not_held_out": [path.name for path in also]}
    counted = {"games": totals.items, "broken_games": totals.skipped.count, "quiescence_leaves": leaves is not None}
    split = {"smooth": smooth, "training": training, "held_out": held_out, "every": every, "seed": seed}
    card = files | counted | {"first_broken": totals.skipped.line, "quiet_positions": totals.positions} | split
    write_text(folder / CARD, json.dumps(card, indent=1) + "\n")
    return card
