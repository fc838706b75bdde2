"""Output files: names, encodings, atomic writes."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from usi_engine.language import _
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import SHIFT_JIS, SHIFT_JIS_SUFFIXES, SUFFIXES, decoded

UTF8_HEADER = "# KIF version=2.0 encoding=UTF-8\n"
CSA_UTF8, CSA_SHIFT_JIS = "'CSA encoding=UTF-8\n", "'CSA encoding=SHIFT_JIS\n"


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


def write_text(path: Path, text: str, encoding: str = "") -> None:
    """Write a file under a temporary name and rename it. RecordError if the encoding lacks a letter; OSError.

    Without `encoding`: Shift-JIS if the suffix asks for it (.kif, .ki2) and the text allows it, else UTF-8. KIF in
    UTF-8 begins with the comment line that says so.
    """
    data = encoded(path, text, encoding)
    with naming_errors(path):
        make_folder(path.parent)
    with atomic_write(path, f"{secrets.token_hex(8)}.part") as part:  # two programs may write this file
        part.write_bytes(data)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless they exist. OSError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None


def encoded(path: Path, text: str, encoding: str) -> bytes:
    """Return the bytes of a file of this name. RecordError."""
    utf8 = with_header(path, text, "utf-8").encode("utf-8")
    if encoding == "utf-8" or (not encoding and path.suffix.lower() not in SHIFT_JIS_SUFFIXES):
        return utf8
    reason, whole = _("the text would be read as another encoding"), with_header(path, text, SHIFT_JIS)
    try:
        data = whole.encode(SHIFT_JIS)
        if decoded(data) == whole:
            return data
    except UnicodeEncodeError as error:
        reason = _("Shift-JIS has no '{letter}'").format(letter=error.object[error.start])
    if encoding:
        raise RecordError(_("{path}: {reason}; write UTF-8 (.kifu, .ki2u)").format(path=path, reason=reason))
    return utf8


def with_header(path: Path, text: str, encoding: str) -> str:
    """Return KIF in UTF-8 with its first line, and CSA 3.0 with the name of its encoding."""
    if encoding == SHIFT_JIS:
        return text.replace(CSA_UTF8, CSA_SHIFT_JIS, 1) if text.startswith(CSA_UTF8) else text
    return UTF8_HEADER + text if path.suffix.lower() in (".kif", ".kifu") else text


class Output:
    """Paths for one kind of file: `out` itself for a single game, otherwise names in the folder `out`.

    RecordError if a path is one of `read`, the files that are read.
    """

    def __init__(self, out: Path, suffix: str, several: bool, read: Sequence[Path]) -> None:
        self.suffix = suffix
        self._out, self._read = out, read
        self._by_name = several or out.is_dir()
        self._used: set[str] = set()
        if several and out.suffix.lower() in (*SUFFIXES, suffix) and not out.is_dir():
            raise RecordError(_("{path}: several games need a folder").format(path=out))
        if not self._by_name:
            refuse_replacing(out, read)

    def path(self, stem: str) -> Path:
        """Return the file for a game of this name; a name that was used before gets a number."""
        if not self._by_name:
            return self._out
        name, number = stem, 2
        while name in self._used:
            name, number = f"{stem}-{number}", number + 1
        self._used.add(name)
        path = self._out / f"{name}{self.suffix}"
        refuse_replacing(path, self._read)
        return path


def refuse_replacing(path: Path, read: Sequence[Path]) -> None:
    """Raise RecordError if the path is one of the files that are read."""
    if path.exists() and any(one.exists() and path.samefile(one) for one in read):
        raise RecordError(_("{path} is also an input; it is not replaced").format(path=path))
