"""Cache of the unfolded weights: from the second start on they are read from a file, far faster than unfolding them.

A file holds the arrays of Weights.memory() one after the other; its name is the checksum of the weights file. It is
written under a temporary name and then renamed, so that no incomplete file is ever read. The cache is optional: where
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
from pathlib import Path
from typing import Protocol

KEPT_FILES = 2  # of about 415 MB each
LAYOUT = b"2"  # changes with the order or meaning of Weights.memory()


class Unfolded(Protocol):
    """Allocated weights: `core_ext.engine.Weights`."""

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
    """Fill the allocated `weights` from the cache; False where there is no such file, or not of the right size."""
    arrays = weights.memory()
    try:
        with path.open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != sum(array.nbytes for array in arrays):
                return False
            return all(read_whole(file, array) for array in arrays)
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


def keep(weights: Unfolded, path: Path) -> None:
    """Write the unfolded `weights`; delete the oldest files beyond KEPT_FILES."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with open(descriptor, "wb") as file:
                for array in weights.memory():
                    file.write(array)
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
        files = sorted(path.parent.glob("*.unfolded"), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in files[KEPT_FILES:]:
            old.unlink(missing_ok=True)
