"""Unfolded weights kept in the user's cache folder: the second start reads them far faster than it could unfold them.

A file holds the arrays of Weights.memory() one after the other and is named by the checksum of the weights file it was
made from. It is written beside its place and then renamed, so that a half-written one is never read. Nothing here is
needed: where the folder cannot be used, the weights are unfolded at every start. The variable `KOMADORI_CACHE` names
another folder; empty: none.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core_ext.engine import Weights

KEPT_FILES = 2  # of about 415 MB each
LAYOUT = b"2"  # changes with the order or meaning of Weights.memory()


def cache_folder() -> Path | None:
    """Where this user's caches belong on this system."""
    chosen = os.environ.get("KOMADORI_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "komadori" if base and os.path.isabs(base) else None


def cache_file(data: bytes) -> Path | None:
    """The file for these weights."""
    folder = cache_folder()
    return folder / f"{hashlib.sha256(LAYOUT + data).hexdigest()[:32]}.unfolded" if folder else None


def fetch(weights: Weights, path: Path) -> bool:
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
    """Fill the array; a read may bring less than was asked for."""
    at = 0
    while at < array.nbytes:
        count = file.readinto(array[at:])
        if not count:
            return False
        at += count
    return True


def keep(weights: Weights, path: Path) -> None:
    """Write the unfolded `weights`; the oldest files beyond KEPT_FILES go."""
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
