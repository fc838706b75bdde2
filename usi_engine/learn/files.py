"""Files that learning writes: whole or not at all, and none that something else is in; errors name them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from usi_engine.learn.game import SourceError


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError of the block that names no file names this one: a full disk is reported where nothing is known."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`: renamed to it when the block ends well, else what it names is deleted."""
    part = path.with_name(path.name + ".part")
    try:
        with naming(path):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Replace the file by this text."""
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def check_output(out: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file to write that is no regular file, or is read as well. SourceError."""
    if out.exists() and not out.is_file():
        raise SourceError(f"--out {out}: not a regular file")
    if out.resolve() in {path.resolve() for path in inputs}:
        raise SourceError(f"--out {out}: is also read")


def check_replaced(out: Path, kind: str, beginnings: tuple[bytes, ...]) -> None:
    """As check_output; also refuse to replace a file that does not begin as files of this kind do. SourceError."""
    check_output(out)
    if not out.exists():
        return
    begun = beginning(out, beginnings)
    if begun and not begun.startswith(beginnings):
        raise SourceError(f"--out {out}: holds something else than {kind}; it is not replaced")


def check_not_replaced(out: Path, kind: str, beginnings: tuple[bytes, ...]) -> None:
    """Refuse to replace a file that begins as files of this kind do. SourceError."""
    if out.exists() and beginning(out, beginnings).startswith(beginnings):
        raise SourceError(f"--out {out}: holds {kind}; it is not replaced")


def beginning(path: Path, beginnings: tuple[bytes, ...]) -> bytes:
    """As many bytes of the file as the longest of these has."""
    with path.open("rb") as file:
        return file.read(max(map(len, beginnings)))


def weights_beginnings() -> tuple[bytes, ...]:
    """How files of weights begin: networks and KPP weights."""
    from usi_engine.evaluation.kpp_file import MAGIC, OLDER_MAGIC  # noqa: PLC0415
    from usi_engine.evaluation.network_file import VERSION  # noqa: PLC0415  (numpy and the core, when they are needed)

    return VERSION.to_bytes(4, "little"), MAGIC, OLDER_MAGIC
