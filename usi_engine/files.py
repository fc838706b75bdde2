"""Files that stay whole whatever ends the program: atomic writes, and rows that a later run continues."""

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from usi_engine.language import _

# Raised by the use of damaged rows: bad bytes, other JSON, numbers such as 1e999, deep nesting.
INVALID = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


def digest_of(path: Path) -> str:
    """Return a hash of a file, which tells when another one has its name. OSError."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


@contextmanager
def naming_errors(path: Path, part: Path | None = None) -> Iterator[None]:
    """Give an OSError of the block the name of the file; with `part`, instead of none or of this temporary one."""
    try:
        yield
    except OSError as error:
        named = part and error.filename is not None and str(error.filename) != str(part)
        if error.errno is not None and not named:  # of the system, not a lost connection
            error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def atomic_write(path: Path, name: str = "") -> Iterator[Path]:
    """Yield a temporary path, which is renamed to `path` if the block succeeds and deleted if it fails.

    `name` is its name, by default that of `path` with `.part`: what a killed program leaves is then replaced. A link
    stays, its target is replaced; a file keeps its permissions. A device or a pipe is yielded itself.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file() and not path.is_dir():
        with naming_errors(path):
            yield path
        return
    part = path.with_name(name or path.name + ".part")
    try:
        with naming_errors(path, part):
            yield part
            if path.is_file():
                shutil.copymode(path, part)
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_blocks(path: Path, blocks: Iterable[bytes | memoryview], *, sync: bool = False) -> None:
    """Write a file, and its folder if it is missing, so that other programs see all of it or none. OSError.

    `sync`: nor is a part of it left if the power fails.
    """
    with naming_errors(path):
        make_folder(path.parent)
    with atomic_write(path, f"{secrets.token_hex(8)}.part") as part, part.open("wb") as file:
        for block in blocks:
            file.write(block)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def write_json(path: Path, value: object) -> None:
    """Write a value for people and programs. OSError."""
    write_blocks(path, [(json.dumps(value, indent=1) + "\n").encode("ascii")])


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless they exist. OSError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None


def user_folder(kind: str) -> Path | None:
    """Return the user's folder for our `cache` or `data`, by default that of the system; None: nothing is kept.

    The environment variables KOMADORI_CACHE and KOMADORI_DATA name others, or none if they are empty.
    """
    chosen = os.environ.get(f"KOMADORI_{kind.upper()}")
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        from platformdirs import PlatformDirs  # noqa: PLC0415  (few commands need it)
    except ImportError:
        return None
    folders = PlatformDirs("komadori", appauthor=False, opinion=False)  # opinion: another `Cache` on Windows
    folder: Path = getattr(folders, f"user_{kind}_path")
    return folder if folder.is_absolute() else None


@contextmanager
def locked(written: Path, lock_file: Path) -> Iterator[None]:
    """Keep other runs from writing a file or folder. OSError, also if another run has locked it.

    SQLite locks files on every system, until the process is killed. Where a disk knows no locks, there is none.
    """
    import sqlite3  # noqa: PLC0415  (few commands need it)

    with naming_errors(written):
        lock_file.touch()
    lock = sqlite3.connect(lock_file, timeout=0)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "is locked" in str(error):
            lock.close()
            raise OSError(errno.EBUSY, _("another run is writing to it"), str(written)) from None
    try:
        yield
    finally:
        lock.close()
        lock_file.unlink(missing_ok=True)


class OtherRowsError(ValueError):
    """A file of rows with another first line: the `conditions` of another run, or None if the file is none of ours."""

    def __init__(self, conditions: dict[str, Any] | None) -> None:
        super().__init__("it is another file" if conditions is None else "it was made under other conditions")
        self.conditions = conditions


class KeptRows:
    """A file with a row of JSON on each line, to which a run appends and which a later run continues.

    `rows` are those that the file has already; a line that a kill cut off, or that is damaged, is none. If the rows
    depend on `conditions`, these are the first line. OSError; OtherRowsError if another object is there.
    """

    def __init__(self, path: Path, conditions: dict[str, Any] | None = None) -> None:
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        self._cut_off = not data.endswith(b"\n") and bool(data)
        lines = data.splitlines()
        if conditions is not None:
            head, lines = parsed(lines[0]) if lines else None, lines[1:]
            if data and head != json.loads(json.dumps(conditions)):
                raise OtherRowsError(head if isinstance(head, dict) else None)
            if not data:
                write_blocks(path, [(json.dumps(conditions) + "\n").encode("ascii")])
        self.rows = [row for row in map(parsed, lines) if row is not None]

    def add(self, row: object) -> None:
        """Append a row. OSError."""
        line = ("\n" if self._cut_off else "") + json.dumps(row) + "\n"
        with naming_errors(self.path), self.path.open("a", encoding="ascii", newline="\n") as file:
            file.write(line)
        self._cut_off = False
        self.rows.append(row)


def parsed(line: bytes) -> Any:
    """Parse a line of JSON; return None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
