"""Conversion of games to a corpus: quiet positions, split by game, duplicates averaged, shuffled with a seed.

The positions (98 bytes each, see core_ext.corpus.TRAINING_POSITION) go first into buckets by their hash: equal
positions share a bucket, and a bucket is a random part of the whole. Then one bucket after the other is read, cleaned,
shuffled and appended to the corpus. Memory is needed for one bucket and some chunks of games.

Several processes may work on the chunks; the corpus does not depend on their number.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.corpus import TRAINING_POSITION, GameReader
from usi_engine import __version__
from usi_engine.evaluation.load import load_evaluation
from usi_engine.files import atomic_write, make_folder, write_json
from usi_engine.learn.corpus.buckets import Buckets, Totals, mixed_hash, write_positions
from usi_engine.learn.corpus.chances import Positions, averaged, smoothed
from usi_engine.learn.corpus.sources import Chunk, detect_format, read_chunks
from usi_engine.learn.files import CARD, HELD_OUT, TRAINING
from usi_engine.learn.game import Item, SkippedItems, SourceError, ValuedMoves
from usi_engine.learn.settings import NO_LEAVES, Corpus
from usi_engine.progress import POSITIONS, Progress
from usi_engine.records.faults import Fault
from usi_engine.workers import Work

LONGEST_GAME = 2048  # positions
CHUNK_ROOM = 8 * LONGEST_GAME  # initial room of a chunk, in positions
BATCH = 1 << 16  # positions sorted into the buckets at a time
BOOK_MARGIN = 60  # centipawns: book moves further below the best of their position are left out


def is_held_out(games: npt.NDArray[np.uint32], every: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return whether each game is held out: about one in `every`, never number 0."""
    drawn = mixed_hash(games.astype(np.uint64), seed) % np.uint64(every) == 0
    return np.asarray(drawn & (games != 0), dtype=np.bool_)


def split(positions: Positions, every: int, seed: int) -> tuple[Positions, Positions]:
    """Return the positions to train with, and those that are in held-out games alone."""
    held_out = is_held_out(positions["game"], every, seed)
    training, rest = averaged(positions[~held_out]), averaged(positions[held_out])
    return training, rest[~np.isin(rest["key"], training["key"])]


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
    chunk, together = task.chunk, task.chunk.format.together
    out, used, items, skipped = np.zeros(CHUNK_ROOM, dtype=TRAINING_POSITION), 0, 0, SkippedItems()
    for items, item in enumerate(chunk.items(), 1):
        if used + LONGEST_GAME > len(out):
            out = np.concatenate([out, out])
        try:
            number = items - (items - 1) % together if task.numbered else 0
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


def renumbered(parts: Iterable[ChunkPositions], totals: Totals) -> Iterator[Positions]:
    """Yield the positions of all chunks, with games numbered from the first chunk on."""
    with Progress("games", begun=totals.items) as progress:
        for part in parts:
            numbers = part.positions["game"]
            numbers[numbers > 0] += totals.items
            totals.chunks += 1
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


def finish(buckets: Buckets, settings: Corpus, skipped: SkippedItems) -> tuple[int, int]:
    """Clean, shuffle and join the buckets; return the numbers of training and of held-out positions.

    The old corpus stays until the new one is complete. OSError; SourceError if there is no training position.
    """
    folder, every, seed = settings.out, settings.every, settings.seed
    random, counts = np.random.default_rng(seed), [0, 0]
    total = sum(path.stat().st_size for path in buckets.paths) // TRAINING_POSITION.itemsize
    with (
        Progress(POSITIONS, total) as progress,
        atomic_write(folder / TRAINING) as training_part,
        atomic_write(folder / HELD_OUT) as held_out_part,
        open(training_part, "wb") as training,
        open(held_out_part, "wb") as held_out,
    ):
        files = training, held_out
        for path in buckets.paths:
            positions = np.fromfile(path, dtype=TRAINING_POSITION)
            for part, (file, chosen) in enumerate(zip(files, split(positions, every, seed), strict=True)):
                write_positions(file, random.permutation(chosen))
                counts[part] += len(chosen)
            progress.add(len(positions))
        if not counts[0]:
            raise SourceError(f"no position to train with for {folder}{': ' if skipped.count else ''}{skipped.line}")
    return counts[0], counts[1]


def all_chunks(settings: Corpus) -> Iterator[ChunkTask]:
    """Yield the chunks of all files in order; games of `also` are not numbered."""
    for paths, numbered in ((settings.games, True), (settings.also, False)):
        yield from (ChunkTask(chunk, numbered, settings.smooth) for path in paths for chunk in read_chunks(path))


def check_inputs(paths: Iterable[Path], leaves: str | None) -> None:
    """Raise OSError for a missing file, SourceError for a name of no known format, WeightsError for `leaves`."""
    for path in paths:
        path.stat()
        detect_format(path)
    new_reader(leaves)


def identity(path: Path) -> list[Any]:
    """Return name, size and time of change of a file, if it exists, to recognise it in a later run."""
    found = path.stat() if path.exists() else None
    return [str(path.resolve()), *([found.st_size, found.st_mtime_ns] if found else [])]


def build_corpus(settings: Corpus) -> dict[str, Any]:
    """Read the files, write the corpus and return its card, and in `skipped` a line about what it cannot use.

    The same call resumes an interrupted one. SourceError, OSError, WeightsError.
    """
    paths, also, folder = settings.games, settings.also, settings.out
    leaves = None if settings.leaves == NO_LEAVES else settings.leaves
    if not (paths or also):
        raise SourceError("no files of games")
    make_folder(folder)
    check_inputs([*paths, *also], leaves)  # before the progress of another command is removed
    made = {name: getattr(settings, name) for name in ("smooth", "every", "seed")}
    inputs = [[identity(path) for path in some] for some in (paths, also, [Path(leaves)] if leaves else [])]
    buckets = Buckets(folder, settings.seed, made | {"leaves": leaves, "version": __version__, "inputs": inputs})
    totals = buckets.totals
    try:
        tasks = islice(all_chunks(settings), totals.chunks, None)
        parts = Work(new_reader, (leaves,), read_chunk).results(tasks, settings.threads)
        for positions in batched(renumbered(parts, totals)):
            buckets.add(positions)
            buckets.note()
        buckets.close()
        training, held_out = finish(buckets, settings, totals.skipped)
    except BaseException as error:
        buckets.stop(resumable=not isinstance(error, ValueError))
        raise
    buckets.stop(resumable=False)
    files = {"files": [path.name for path in paths], "files_not_held_out": [path.name for path in also]}
    counted = {"games": totals.items, "broken_games": totals.skipped.count, "quiescence_leaves": leaves is not None}
    sizes = {"training": training, "held_out": held_out, "position_bytes": TRAINING_POSITION.itemsize}
    card = files | counted | {"first_broken": totals.skipped.line, "quiet_positions": totals.positions} | sizes | made
    write_json(folder / CARD, card)
    return card | {"skipped": totals.skipped.line}
