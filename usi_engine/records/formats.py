"""The formats of game records: names, suffixes, detection, readers.

rsshogi reads and writes every format. Our readers are stricter: rsshogi skips some text that is not a move (an unknown
word ends a KIF game, half a CSA move is dropped).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from usi_engine.records import csa, jkf, ki2, kif, usi_text
from usi_engine.records.faults import RecordError

# Suffixes and formats; the formats are named as in `--to`.
SUFFIXES = {
    ".kif": "kif", ".kifu": "kif", ".ki2": "ki2", ".ki2u": "ki2", ".csa": "csa", ".jkf": "jkf", ".json": "jkf",
    ".usi": "usi", ".sfen": "usi",
}  # fmt: skip
# Suffixes whose files are Shift-JIS by convention; the same with a `u` are UTF-8.
SHIFT_JIS_SUFFIXES = (".kif", ".ki2")
# Python's name for Shift-JIS as Windows programs write it.
SHIFT_JIS = "cp932"
# The formats: modules with `read(text)`, which returns a Record or raises ValueError, and `find_fault(text, error)`.
FORMATS: dict[str, Any] = {"kif": kif, "ki2": ki2, "csa": csa, "jkf": jkf, "usi": usi_text}


def decoded(data: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark, or Shift-JIS. RecordError."""
    for encoding in ("utf-8-sig", SHIFT_JIS):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise RecordError("neither UTF-8 nor Shift-JIS text")


def format_of(path: Path, text: str) -> str:
    """Return the format by the suffix, or by the text if the suffix is unknown. RecordError."""
    known = SUFFIXES.get(path.suffix.lower())
    if known:
        return known
    if text.lstrip().startswith("{"):
        return "jkf"
    for name, hint in (("csa", csa.HINT), ("ki2", ki2.HINT), ("kif", kif.HINT)):
        if hint.search(text):
            return name
    if usi_text.is_usi(text):
        return "usi"
    raise RecordError("not a game record of a known format (KIF, KI2, CSA, JKF, USI)")


def parts_of(kind: str, text: str) -> list[tuple[int, str]]:
    """Return the text of each game with the number of its first line, from 0. RecordError if there is none."""
    if kind == "usi":
        parts = usi_text.split(text)
    elif kind == "csa":
        parts = csa.split(text)
    else:
        parts = [(0, text)] if kind == "jkf" or kif.HINT.search(text) or "▲" in text or "△" in text else []
    if not parts:
        raise RecordError("the file holds no game")
    return parts
