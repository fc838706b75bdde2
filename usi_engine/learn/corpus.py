"""Games to one packed corpus: quiet positions, deduplicated, shuffled with a seed, split by game.

The records (96 bytes each, see core_ext.records.RECORD) go first into buckets by the hash of their position, so equal
positions meet in one bucket and a bucket is a random part of the whole. Then each bucket alone is read, cleaned,
shuffled and written to the end of the corpus. Memory is needed for one bucket and one game.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import Evaluation
from core_ext.records import NO_SCORE, RECORD, GameReader
from usi_engine.learn.sources import Game, SourceError, ValuedMoves, items_of

Records = npt.NDArray[Any]
BUCKETS = 64
LONGEST_GAME = 2048  # records
BATCH = 1 << 16
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


class Buckets:
    """Temporary files of records: a record's position decides its file."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._seed = seed
        self.paths = [folder / f"bucket{number:02}.tmp" for number in range(BUCKETS)]
        self._files: list[IO[bytes]] = [path.open("wb") for path in self.paths]

    def add(self, records: Records) -> None:
        """Append a batch."""
        bucket = mixed_hash(records["key"], self._seed + 1) % np.uint64(BUCKETS)
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(BUCKETS), side="right")
        for file, chosen in zip(self._files, np.split(records[order], ends[:-1]), strict=True):
            chosen.tofile(file)

    def close(self) -> None:
        for file in self._files:
            file.close()


def deduplicated(records: Records, held: npt.NDArray[np.bool_]) -> tuple[Records, npt.NDArray[np.bool_]]:
    """Each position once, and whether it is held out: if it is (`held`) in any game, it is altogether."""
    order = np.lexsort((~held, records["key"]))
    sorted_keys = records["key"][order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    chosen = order[first]
    return records[chosen], held[chosen]


def collect(
    items: Iterable[tuple[Game | ValuedMoves, int]],
    reader: GameReader,
    buckets: Buckets,
    report: Callable[[int, int, int], None],
) -> tuple[int, int, int]:
    """All quiet positions into the buckets, each item with the number its records carry.

    Returns the number of items, of positions, and of items with an illegal move.
    """
    batch = np.zeros(BATCH + LONGEST_GAME, dtype=RECORD)
    used = total = count = broken = 0
    for count, (item, number) in enumerate(items, 1):
        try:
            used += read_item(reader, item, number, batch[used:])
        except ValueError:
            broken += 1
        if used >= BATCH:
            buckets.add(batch[:used])
            total, used = total + used, 0
            report(count, total, broken)
    buckets.add(batch[:used])
    return count, total + used, broken


def read_item(reader: GameReader, item: Game | ValuedMoves, number: int, out: Records) -> int:
    """The item's records into `out`; returns how many."""
    return read_valued(reader, item, out) if isinstance(item, ValuedMoves) else read_game(reader, item, number, out)


def read_valued(reader: GameReader, item: ValuedMoves, out: Records) -> int:
    """The quiet positions after the moves that are not far below the best one."""
    least = max(item.values, default=0) - BOOK_MARGIN
    kept = [pair for pair in zip(item.moves, item.values, strict=True) if pair[1] >= least]
    return reader.read_valued(item.start, [move for move, _ in kept], [value for _, value in kept], out)


def read_game(reader: GameReader, game: Game, number: int, out: Records) -> int:
    """The game's quiet positions; where a game has scores, positions without one are left out."""
    written = reader.read(game.start, game.moves, game.scores, game.result, number, out)
    scored = any(score is not None for score in game.scores)
    if not scored:
        return written
    kept = out[:written][out["score"][:written] != NO_SCORE]
    out[: len(kept)] = kept.copy()
    return len(kept)


def finish(buckets: Buckets, folder: Path, every: int, seed: int) -> tuple[int, int]:
    """Clean, shuffle and join the buckets; returns how many positions are for training and how many are held out."""
    random = np.random.default_rng(seed)
    counts = [0, 0]
    with open(folder / TRAINING, "wb") as training, open(folder / HELD_OUT, "wb") as held_out_file:
        for path in buckets.paths:
            records = np.fromfile(path, dtype=RECORD)
            records, held = deduplicated(records, held_out(records["game"], every, seed))
            order = random.permutation(len(records))
            records, held = records[order], held[order]
            records[~held].tofile(training)
            records[held].tofile(held_out_file)
            counts = [counts[0] + int((~held).sum()), counts[1] + int(held.sum())]
            path.unlink()
    return counts[0], counts[1]


def all_items(paths: Iterable[Path], also: Iterable[Path]) -> Iterator[tuple[Game | ValuedMoves, int]]:
    """The items of all files in order: those of `paths` numbered from 1, those of `also` with number 0."""
    yield from ((item, number) for number, item in enumerate(chain.from_iterable(map(items_of, paths)), 1))
    yield from ((item, 0) for item in chain.from_iterable(map(items_of, also)))


def build_corpus(
    paths: list[Path],
    folder: Path,
    every: int = 50,
    seed: int = 1,
    *,
    also: Sequence[Path] = (),
    leaf_weights: Evaluation | None = None,
) -> dict[str, Any]:
    """Read the files, write the corpus into `folder`; returns its card. No game of `also` is held out.

    With `leaf_weights`, each position also gives its quiescence leaf by these weights.
    SourceError, OSError.
    """
    if not (paths or also):
        raise SourceError("no files of games")
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    buckets = Buckets(folder, seed)
    try:
        games, positions, broken = collect(
            all_items(paths, also), GameReader(leaf_weights), buckets, lambda *counts: print_progress(started, *counts)
        )
    finally:
        buckets.close()
    training, held = finish(buckets, folder, every, seed)
    files = {"files": [path.name for path in paths], "files_not_held_out": [path.name for path in also]}
    counted = {"games": games, "broken_games": broken, "quiescence_leaves": leaf_weights is not None}
    split = {"quiet_positions": positions, "training": training, "held_out": held, "every": every, "seed": seed}
    card = {**files, **counted, **split}
    (folder / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    return card


def print_progress(started: float, games: int, positions: int, broken: int) -> None:
    """One line of progress."""
    seconds = max(time.monotonic() - started, 1e-3)
    print(
        f"{games} games, {positions} quiet positions, {positions / seconds:.0f} a second, {broken} games refused",
        flush=True,
    )
