"""Output files of training, which never replace a file of another kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from usi_engine.files import digest_of, naming_errors
from usi_engine.learn.game import SourceError

TRAINING, HELD_OUT, CARD = "training.bin", "held_out.bin", "corpus.json"  # of a corpus


def check_suffix(out: Path, *suffixes: str) -> None:
    """Raise SourceError if the name does not end in one of these."""
    if out.suffix.lower() not in suffixes:
        raise SourceError(f"--out {out}: expected a name that ends in {' or '.join(suffixes)}")


def check_output(out: Path, inputs: Iterable[Path] = ()) -> None:
    """Raise SourceError if `out` is not a regular file or is one of the inputs."""
    if out.exists() and not out.is_file():
        raise SourceError(f"--out {out}: not a regular file")
    if out.resolve() in {path.resolve() for path in inputs}:
        raise SourceError(f"--out {out}: is also an input")


def check_weights_replaceable(out: Path) -> None:
    """Raise SourceError if `out` exists and is neither empty nor a file of weights."""
    check_output(out)
    if out.exists() and out.stat().st_size and not holds_weights(out):
        raise SourceError(f"--out {out}: is not a file of weights; it is not replaced")


def check_exportable(out: Path) -> None:
    """Raise SourceError if `out` is a file of weights or of a corpus."""
    if out.exists() and holds_weights(out):
        raise SourceError(f"--out {out}: is a file of weights; it is not replaced")
    file = out.resolve()
    if file.name in (TRAINING, HELD_OUT) and file.with_name(CARD).exists():
        raise SourceError(f"--out {out}: belongs to a corpus; it is not replaced")


def holds_weights(path: Path) -> bool:
    """Return whether the file begins as a network or as KPP weights."""
    from usi_engine.evaluation.kpp_file import MAGIC  # noqa: PLC0415
    from usi_engine.evaluation.network_file import VERSION  # noqa: PLC0415  (slow to import)

    magics = (VERSION.to_bytes(4, "little"), MAGIC[:-1])  # KPP weights of any version
    with path.open("rb") as file:
        return file.read(max(map(len, magics))).startswith(magics)


def named_weights(name: str) -> str:
    """Return the name of an evaluation, if it is a file with a hash of its bytes. OSError, WeightsError."""
    from usi_engine.evaluation.load import evaluation_file  # noqa: PLC0415  (slow to import)

    path = evaluation_file(name)
    return f"{name} {digest_of(path)}" if path else name


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Return the settings in `found` that are not as `expected`, as text."""
    return ", ".join(f"{name} {found.get(name)!r}" for name in expected if found.get(name) != expected[name])


@contextmanager
def locked(written: Path, lock_file: Path) -> Iterator[None]:
    """Keep other runs from writing a file or folder. SourceError if another run has locked it.

    SQLite locks files on every system, until the process is killed. Where a disk knows no locks, there is none.
    """
    with naming_errors(written):
        lock_file.touch()
    lock = sqlite3.connect(lock_file, timeout=0)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "is locked" in str(error):
            lock.close()
            raise SourceError(f"{written}: another run is writing to it") from None
    try:
        yield
    finally:
        lock.close()
        lock_file.unlink(missing_ok=True)


def write_whole(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write all data, even if an unbuffered file takes it in parts. OSError keeps its number, unlike numpy's."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
