"""Games to one packed corpus: quiet positions, deduplicated, shuffled with a seed, split by game.

The positions (96 bytes each, see core_ext.corpus.TRAINING_POSITION) go first into buckets by their hash, so equal
positions meet in one bucket and a bucket is a random part of the whole. Then each bucket alone is read, cleaned,
shuffled and written to the end of the corpus. Memory is needed for one bucket and some chunks of games.

Chunks are read in order and worked on by several processes; the corpus does not depend on their number.
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
from usi_engine.learn.corpus.sources import Chunk, Refused, chunks_of
from usi_engine.learn.files import naming, write_text, written_whole
from usi_engine.learn.game import Fault, Item, SourceError, ValuedMoves
from usi_engine.learn.pool import Work
from usi_engine.progress import Progress

Positions = npt.NDArray[Any]
BUCKETS = 64
LONGEST_GAME = 2048  # positions
CHUNK_ROOM = 8 * LONGEST_GAME  # positions of a chunk, at first
BATCH = 1 << 16  # positions that are sorted into the buckets at a time
BOOK_MARGIN = 60  # centipawns: of the moves of a book position, those that lose more against its best are left out
TRAINING, HELD_OUT, CARD = "training.bin", "held_out.bin", "corpus.json"


def mixed_hash(values: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """A well mixed 64-bit hash (the finalizer of splitmix64)."""
    mixed = values + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


def held_out(games: npt.NDArray[np.uint32], every: int, seed: int) -> npt.NDArray[np.bool_]:
    """Whether each game is held out: about one in `every`, never number 0."""
    drawn = mixed_hash(games.astype(np.uint64), seed) % np.uint64(every) == 0
    return np.asarray(drawn & (games != 0), dtype=np.bool_)


def write_positions(file: IO[bytes], positions: Positions) -> None:
    """All of them, also to an unbuffered file, which may take a part. OSError with its number, unlike numpy's own."""
    left = np.ascontiguousarray(positions).view(np.uint8).data
    while left:
        left = left[file.write(left) :]


class Buckets:
    """Temporary files of positions: the hash of a position chooses its file."""

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
        """Append a batch."""
        bucket = mixed_hash(positions["key"], self._seed + 1) % np.uint64(BUCKETS)
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(BUCKETS), side="right")
        for path, file, chosen in zip(self.paths, self._files, np.split(positions[order], ends[:-1]), strict=True):
            with naming(path):
                write_positions(file, chosen)

    def close(self) -> None:
        """Write what is left."""
        for file in self._files:
            file.close()

    def remove(self) -> None:
        """Close and delete the files that are left."""
        self.close()
        for path in self.paths:
            path.unlink(missing_ok=True)


def deduplicated(
    positions: Positions, held: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The place of each position once, and whether it is held out: if it is (`held`) in any game, it is altogether."""
    order = np.lexsort((~held, positions["key"]))
    sorted_keys = positions["key"][order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    chosen = order[first]
    return chosen, held[chosen]


@dataclass
class Part:
    """What a chunk gives. The games in its positions are counted from 1 in the chunk; 0: never held out."""

    positions: Positions
    items: int
    refused: Refused


def new_reader(leaves: str | None) -> GameReader:
    """A reader that finds quiescence leaves by the weights of this name, if any. WeightsError."""
    return GameReader(None if leaves is None else load_evaluation(leaves))


def read_chunk(reader: GameReader, task: tuple[Chunk, bool]) -> Part:
    """The quiet positions of a chunk, numbered where the task says so."""
    chunk, numbered = task
    out, used, items, refused = np.zeros(CHUNK_ROOM, dtype=TRAINING_POSITION), 0, 0, Refused()
    for items, item in enumerate(chunk.items(), 1):
        if used + LONGEST_GAME > len(out):
            out = np.concatenate([out, out])
        try:
            used += read_item(reader, item, items if numbered else 0, out[used : used + LONGEST_GAME])
        except ValueError as error:
            refused.add(chunk.place(items - 1), str(error))
    return Part(out[:used], items, refused)


@dataclass
class Totals:
    """Counts of items and quiet positions so far."""

    items: int = 0
    positions: int = 0
    refused: Refused = field(default_factory=Refused)


def numbered_through(parts: Iterable[Part], totals: Totals) -> Iterator[Positions]:
    """The positions of each part, the games numbered through."""
    progress = Progress("games")
    for part in parts:
        numbers = part.positions["game"]
        numbers[numbers > 0] += totals.items
        totals.items += part.items
        totals.positions += len(part.positions)
        totals.refused.join(part.refused)
        progress.add(part.items, len(part.positions))
        yield part.positions


def joined(parts: Iterable[Positions]) -> Iterator[Positions]:
    """The same positions in fewer arrays, of at least BATCH but for the last."""
    waiting: list[Positions] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= BATCH:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def read_item(reader: GameReader, item: Item, number: int, out: Positions) -> int:
    """The item's positions into `out`; returns how many. ValueError for an item that cannot be used."""
    if isinstance(item, Fault):
        raise SourceError(item.reason)
    if isinstance(item, ValuedMoves):
        return read_valued(reader, item, out)
    return reader.read_game(item.start, item.moves, item.scores, item.result, number, out)


def read_valued(reader: GameReader, item: ValuedMoves, out: Positions) -> int:
    """The quiet positions after the moves that are not far below the best one."""
    least = max(item.values, default=0) - BOOK_MARGIN
    kept = [pair for pair in zip(item.moves, item.values, strict=True) if pair[1] >= least]
    return reader.read_valued_moves(item.start, [move for move, _ in kept], [value for _, value in kept], out)


def finish(buckets: Buckets, folder: Path, every: int, seed: int, refused: Refused) -> tuple[int, int]:
    """Clean, shuffle and join the buckets; returns how many positions are for training and how many are held out.

    The old corpus stays until the new one is whole. OSError; SourceError where no position is for training.
    """
    random = np.random.default_rng(seed)
    counts = [0, 0]
    with (
        written_whole(folder / TRAINING) as training_part,
        written_whole(folder / HELD_OUT) as held_out_part,
        open(training_part, "wb") as training,
        open(held_out_part, "wb") as held_out_file,
    ):
        for path in buckets.paths:
            positions = np.fromfile(path, dtype=TRAINING_POSITION)
            chosen, held = deduplicated(positions, held_out(positions["game"], every, seed))
            order = random.permutation(len(chosen))
            chosen, held = chosen[order], held[order]
            write_positions(training, positions[chosen[~held]])
            write_positions(held_out_file, positions[chosen[held]])
            counts = [counts[0] + int((~held).sum()), counts[1] + int(held.sum())]
            path.unlink()
        if not counts[0]:
            raise SourceError(f"no position to train with for {folder}{': ' if refused.count else ''}{refused.line}")
    return counts[0], counts[1]


def all_chunks(paths: Iterable[Path], also: Iterable[Path]) -> Iterator[tuple[Chunk, bool]]:
    """The chunks of all files in order, and whether their games are numbered: those of `paths` alone."""
    yield from ((chunk, True) for path in paths for chunk in chunks_of(path))
    yield from ((chunk, False) for path in also for chunk in chunks_of(path))


def build_corpus(
    paths: Sequence[Path],
    folder: Path,
    every: int = 50,
    seed: int = 1,
    *,
    also: Sequence[Path] = (),
    leaves: str | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Read the files, write the corpus into `folder`; returns its card. No game of `also` is held out.

    With `leaves`, a name of weights, each position also gives its quiescence leaf by these weights. SourceError,
    OSError, WeightsError.
    """
    if not (paths or also):
        raise SourceError("no files of games")
    folder.mkdir(parents=True, exist_ok=True)
    buckets, totals = Buckets(folder, seed), Totals()
    try:
        parts = Work(new_reader, (leaves,), read_chunk).results(all_chunks(paths, also), threads)
        for positions in joined(numbered_through(parts, totals)):
            buckets.add(positions)
        buckets.close()
        training, held = finish(buckets, folder, every, seed, totals.refused)
    finally:
        buckets.remove()
    files = {"files": [path.name for path in paths], "files_not_held_out": [path.name for path in also]}
    counted = {"games": totals.items, "broken_games": totals.refused.count, "quiescence_leaves": leaves is not None}
    split = {"quiet_positions": totals.positions, "training": training, "held_out": held, "every": every, "seed": seed}
    card = {**files, **counted, "first_broken": totals.refused.line, **split}
    write_text(folder / CARD, json.dumps(card, indent=1) + "\n")
    return card
