"""Output files of records: names and encodings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from usi_engine.files import write_blocks
from usi_engine.language import _
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import SHIFT_JIS, SHIFT_JIS_SUFFIXES, SUFFIXES, decoded

UTF8_HEADER = "# KIF version=2.0 encoding=UTF-8\n"
CSA_UTF8, CSA_SHIFT_JIS = "'CSA encoding=UTF-8\n", "'CSA encoding=SHIFT_JIS\n"


def write_text(path: Path, text: str, encoding: str = "") -> None:
    """Write a file and its folder, all of it or nothing. RecordError if the encoding lacks a letter; OSError.

    Without `encoding`: Shift-JIS if the suffix asks for it (.kif, .ki2) and the text allows it, else UTF-8. KIF in
    UTF-8 begins with the comment line that says so.
    """
    write_blocks(path, [encoded(path, text, encoding)])


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
