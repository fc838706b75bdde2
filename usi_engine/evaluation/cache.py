"""Cache of unfolded KPP weights: later starts read a file, which is far faster than unfolding.

A file contains the arrays of KppWeights.memory() one after the other, then a checksum of a part of each page. Its name
is the checksum of the weights file. It is written under a temporary name, synced and renamed, so no incomplete file is
ever read; the checksum detects pages that were lost nevertheless. If the folder cannot be used, every start unfolds.
The environment variable `KOMADORI_CACHE` sets the folder; empty: no cache. The default is the user's cache folder:
`~/.cache/komadori` on Linux (or below `XDG_CACHE_HOME`), `~/Library/Caches/komadori` on macOS,
`%LOCALAPPDATA%\\komadori` on Windows.
"""

import contextlib
import hashlib
import io
import os
import time
from pathlib import Path
from typing import Protocol

import numpy as np

from usi_engine.files import user_folder, write_blocks

KEPT_FILES = 1  # of about 415 MB
LAYOUT = b"4"  # changes with the order or meaning of KppWeights.memory(), and with the range of valid weights
PAGE, SAMPLE = 4096, 64  # bytes; checking SAMPLE bytes of each page is quick, checking all would double the time
DIGEST = 16
ABANDONED_SECONDS = 3600  # age at which a temporary file's writer must be dead


class Unfolded(Protocol):
    """Allocated weights: `core_ext.engine.KppWeights`."""

    def memory(self) -> list[memoryview]:
        """Return the arrays, writable."""


def cache_file(data: bytes) -> Path | None:
    """Return the path for these bytes of a weights file; None: no cache."""
    folder = user_folder("cache")
    return folder / f"{hashlib.sha256(LAYOUT + data).hexdigest()[:32]}.unfolded" if folder else None


def fetch(weights: Unfolded, path: Path) -> bool:
    """Fill the allocated `weights` from the cache; without an intact file leave them invalid and return False."""
    arrays = weights.memory()
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != sum(array.nbytes for array in arrays) + DIGEST:
                return False
            return all(read_whole(file, array) for array in arrays) and file.read(DIGEST) == checksum(arrays)
    except OSError:
        return False


def read_whole(file: io.FileIO, array: memoryview) -> bool:
    """Fill the array by as many reads as needed. Return False at the end of the file."""
    at = 0
    while at < array.nbytes:
        count = file.readinto(array[at:])
        if not count:
            return False
        at += count
    return True


def checksum(arrays: list[memoryview]) -> bytes:
    """Return a checksum of the first bytes of each page and of all bytes after the last whole page."""
    found = hashlib.blake2b(digest_size=DIGEST)
    for array in arrays:
        data = np.frombuffer(array, np.uint8)
        whole = len(data) // PAGE * PAGE
        found.update(data[:whole].reshape(-1, PAGE)[:, :SAMPLE].tobytes())
        found.update(data[whole:].tobytes())
    return found.digest()


def keep(weights: Unfolded, path: Path) -> None:
    """Write the unfolded `weights`, then prune the folder. If the disk is full or unusable, write nothing."""
    with contextlib.suppress(OSError):
        write_blocks(path, [*weights.memory(), checksum(weights.memory())], sync=True)
        prune(path.parent)


def prune(folder: Path) -> None:
    """Delete all but the newest KEPT_FILES and the temporary files of dead writers. OSError."""
    files = sorted(folder.glob("*.unfolded"), key=lambda file: file.stat().st_mtime, reverse=True)
    abandoned = time.time() - ABANDONED_SECONDS
    parts = [part for part in folder.glob("*.part") if part.stat().st_mtime < abandoned]
    for old in files[KEPT_FILES:] + parts:
        old.unlink(missing_ok=True)
