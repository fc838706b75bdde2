"""Cache of the unfolded weights: from the second start on they are read from a file, far faster than unfolding them.

A file holds the arrays of KppWeights.memory() one after the other and a checksum of a part of each of their pages; its
name is the checksum of the weights file. It is written to the disk under a temporary name and then renamed, so that no
incomplete file is ever read; the checksum finds pages that were lost all the same. The cache is optional: where
its folder cannot be used, the weights are unfolded at every start. The environment variable `KOMADORI_CACHE` sets the
folder; empty: no cache. By default it is the user's cache folder: `~/.cache/komadori` on Linux (or below
`XDG_CACHE_HOME`), `~/Library/Caches/komadori` on macOS, `%LOCALAPPDATA%\\komadori` on Windows.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import time
from pathlib import Path
from typing import Protocol

import numpy as np

KEPT_FILES = 1  # of about 415 MB
LAYOUT = b"4"  # changes with the order or meaning of KppWeights.memory(), and with what is refused as out of range
PAGE, SAMPLE = 4096, 64  # bytes; of each page so many are checked: to check all would take as long as to read them
DIGEST = 16
ABANDONED_SECONDS = 3600  # age of a file with a temporary name whose writer was ended


class Unfolded(Protocol):
    """Allocated weights: `core_ext.engine.KppWeights`."""

    def memory(self) -> list[memoryview]:
        """The arrays, writable."""


def cache_folder() -> Path | None:
    """The folder of the cache; None: no cache."""
    chosen = os.environ.get("KOMADORI_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        from platformdirs import user_cache_path  # noqa: PLC0415  (only where the weights are unfolded)
    except ImportError:
        return None
    folder = user_cache_path("komadori", appauthor=False, opinion=False)  # opinion: a further `Cache` on Windows
    return folder if folder.is_absolute() else None


def cache_file(data: bytes) -> Path | None:
    """The file for these weights."""
    folder = cache_folder()
    return folder / f"{hashlib.sha256(LAYOUT + data).hexdigest()[:32]}.unfolded" if folder else None


def fetch(weights: Unfolded, path: Path) -> bool:
    """Fill the allocated `weights` from the cache; False where there is no such file or it is damaged: the weights are
    void then.
    """
    arrays = weights.memory()
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != sum(array.nbytes for array in arrays) + DIGEST:
                return False
            return all(read_whole(file, array) for array in arrays) and file.read(DIGEST) == checksum(arrays)
    except OSError:
        return False


def read_whole(file: io.FileIO, array: memoryview) -> bool:
    """Fill the array; a read may return fewer bytes than requested."""
    at = 0
    while at < array.nbytes:
        count = file.readinto(array[at:])
        if not count:
            return False
        at += count
    return True


def checksum(arrays: list[memoryview]) -> bytes:
    """Of the first bytes of each page of the arrays, and of what is behind the last whole page."""
    found = hashlib.blake2b(digest_size=DIGEST)
    for array in arrays:
        data = np.frombuffer(array, np.uint8)
        whole = len(data) // PAGE * PAGE
        found.update(data[:whole].reshape(-1, PAGE)[:, :SAMPLE].tobytes())
        found.update(data[whole:].tobytes())
    return found.digest()


def keep(weights: Unfolded, path: Path) -> None:
    """Write the unfolded `weights`; delete the oldest files beyond KEPT_FILES, and what killed writers left."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with open(descriptor, "wb") as file:
                for array in weights.memory():
                    file.write(array)
                file.write(checksum(weights.memory()))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
        prune(path.parent)


def prune(folder: Path) -> None:
    """Delete all but the newest files. OSError."""
    files = sorted(folder.glob("*.unfolded"), key=lambda file: file.stat().st_mtime, reverse=True)
    abandoned = time.time() - ABANDONED_SECONDS
    parts = [part for part in folder.glob("*.part") if part.stat().st_mtime < abandoned]
    for old in files[KEPT_FILES:] + parts:
        old.unlink(missing_ok=True)
