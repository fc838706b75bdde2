"""Temporary files of a corpus that is being built. An interrupted run resumes with them."""

import operator
import os
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from usi_engine.files import INVALID, KeptRows, OtherRowsError, locked, naming_errors
from usi_engine.learn.files import write_whole
from usi_engine.learn.game import SkippedItems

BUCKETS = 64
NOTE, NOTE_SECONDS, LOCK = "unfinished.json", 10.0, "lock.tmp"


def mixed_hash(values: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """Return 64-bit hashes (the finalizer of splitmix64)."""
    mixed = values + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


@dataclass
class Totals:
    """Counts of chunks, items and quiet positions so far."""

    chunks: int = 0
    items: int = 0
    positions: int = 0
    skipped: SkippedItems = field(default_factory=SkippedItems)


def write_positions(file: IO[bytes], positions: npt.NDArray[Any]) -> None:
    write_whole(file, np.ascontiguousarray(positions).view(np.uint8).data)


def open_notes(path: Path, plan: dict[str, Any]) -> KeptRows:
    """Return the notes of a run with this plan; those of another plan are removed. OSError."""
    with suppress(OtherRowsError):
        return KeptRows(path, plan)
    path.unlink()
    return KeptRows(path, plan)


class Buckets:
    """Temporary files of positions, chosen by the hash of the position, and notes of what is in them.

    `plan` describes the input and the settings. `totals` are those of an interrupted run with the same plan, which left
    its files, or zero.
    """

    def __init__(self, folder: Path, seed: int, plan: dict[str, Any]) -> None:
        self._seed = seed
        self._lock = ExitStack()
        self._lock.enter_context(locked(folder, folder / LOCK))
        self.paths = [folder / f"bucket{number:02}.tmp" for number in range(BUCKETS)]
        self._files: list[IO[bytes]] = []
        self._note, self._noted_at = folder / NOTE, time.monotonic()
        self._notes: KeptRows | None = None
        try:
            self._notes = open_notes(self._note, plan)
            self.totals, sizes = self._noted(self._notes.rows)
            for path, size in zip(self.paths, sizes, strict=True):
                if size:
                    os.truncate(path, size)
                self._files.append(path.open("ab" if size else "wb", buffering=0))
        except OSError:
            self.stop()
            raise

    def _noted(self, notes: list[Any]) -> tuple[Totals, list[int]]:
        """Return totals and sizes from the last note, if the files are there."""
        with suppress(OSError, *INVALID):
            counts, sizes = notes[-1]
            totals = Totals(**counts | {"skipped": SkippedItems(**counts["skipped"])})
            found = [path.stat().st_size for path in self.paths]
            if all(map(operator.ge, found, sizes)) and len(sizes) == BUCKETS:
                return totals, sizes
        return Totals(), [0] * BUCKETS

    def note(self) -> None:
        """Note from time to time that the files hold the positions of `totals`. OSError."""
        if self._notes and time.monotonic() >= self._noted_at + NOTE_SECONDS:
            self._notes.add([asdict(self.totals), [file.tell() for file in self._files]])
            self._noted_at = time.monotonic()

    def add(self, positions: npt.NDArray[Any]) -> None:
        bucket = mixed_hash(positions["key"], self._seed + 1) % np.uint64(BUCKETS)
        order = np.argsort(bucket, kind="stable")
        ends = np.searchsorted(bucket[order], np.arange(BUCKETS), side="right")
        for path, file, chosen in zip(self.paths, self._files, np.split(positions[order], ends[:-1]), strict=True):
            with naming_errors(path):
                write_positions(file, chosen)

    def close(self) -> None:
        for file in self._files:
            file.close()

    def stop(self, resumable: bool = True) -> None:
        """Close the files; remove them if they are not `resumable` or nothing was noted."""
        self.close()
        kept = resumable and self._notes and self._notes.rows
        try:
            for path in () if kept else (self._note, *self.paths):
                path.unlink(missing_ok=True)
        finally:
            self._lock.close()
