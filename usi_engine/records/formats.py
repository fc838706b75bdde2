"""The formats of game records: names, suffixes, encodings, detection, readers and writers."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Any

from usi_engine.language import _, reason_of
from usi_engine.records import csa, jkf, ki2, kif, usi_text
from usi_engine.records.bod import HANDICAP_NAMES
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
NAMES_SHIFT_JIS = re.compile(rb"['#][^\r\n]*encoding=shift", re.I)
# The formats: modules with `read(text)`, which returns a Record or raises FaultyText, and `write(record)`, which
# returns text.
FORMATS: dict[str, Any] = {"kif": kif, "ki2": ki2, "csa": csa, "jkf": jkf, "usi": usi_text}


# A half-width voicing mark (ﾞ, ﾟ) that does not follow ｳ, ｶ to ﾄ or ﾊ to ﾎ, as it always does in Japanese.
VOICED_ALONE = re.compile(rb"(?:^|[^\xB3\xB6-\xC4\xCA-\xCE])[\xDE\xDF]")
LARGEST_TEXT = 64 << 20  # bytes; a year of floodgate's games is smaller

# Lines that hold moves. The first two also begin KIF and KI2 without moves.
MOVE_LINES = {
    "csa": re.compile(r"^[+-][0-9]{4}[A-Z]{2}", re.M),
    "kif": re.compile(r"^[^\S\n]*[0-9]+[^\S\n]+[▲△▼▽☗☖]?(?:[１-９1-9][一二三四五六七八九１-９1-9]|同)", re.M),
    "ki2": re.compile(r"^[^\S\n]*[▲△▼▽☗☖]", re.M),
}
HEADS = {"csa": csa.HINT, "kif": kif.HINT}
# A move of KIF or KI2 in a line of another form, which is no header and no comment.
LOOSE_MOVE = re.compile(
    r"^(?![*&#'|]|手数|[^\s：:(]+\s*[：:]).*?[１-９1-9][一二三四五六七八九][成　]*[歩香桂銀金角飛玉王と]", re.M
)


def text_of_file(path: Path) -> str:
    """Read and decode a file. RecordError, which names the file."""
    try:
        with path.open("rb") as file:
            return decoded(file.read(LARGEST_TEXT + 1))  # the size of a device or a pipe is not known before
    except OSError as error:
        raise RecordError(_("{place}: {reason}").format(place=path, reason=reason_of(error))) from None
    except RecordError as error:
        raise RecordError(_("{place}: {reason}").format(place=path, reason=error)) from None


def decoded(data: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark, EUC-JP or Shift-JIS; line ends become `\\n`. RecordError.

    Text in Shift-JIS is hardly ever valid EUC-JP: its lead bytes 81 to 9F, those of kana and frequent kanji, are not.
    A first line that names Shift-JIS decides, or half-width kana that are rare kanji in EUC-JP. UTF-16 is recognised
    by its byte order mark, ISO-2022-JP by its escapes. A control-Z or zeros end some files.
    """
    if len(data) > LARGEST_TEXT:
        raise RecordError(_("more than {megabytes} MB of text; split the file").format(megabytes=LARGEST_TEXT >> 20))
    named = SHIFT_JIS if NAMES_SHIFT_JIS.match(data) or is_half_width(data) else "euc_jp"
    marked = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    for encoding in ("iso2022_jp" if b"\x1b$" in data else marked, "utf-8-sig", named, SHIFT_JIS):
        try:
            return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a\0")
        except UnicodeDecodeError:
            continue
    raise RecordError(_("neither UTF-8 nor Shift-JIS nor EUC-JP text"))


def is_half_width(data: bytes) -> bool:
    """Return True if all letters but ASCII are half-width kana in Shift-JIS, and two level-2 kanji in EUC-JP."""
    kana = data.translate(None, bytes(range(0x80)))
    if kana.translate(None, bytes(range(0xA6, 0xE0))) or VOICED_ALONE.search(data):
        return False
    return sum(byte >= 0xD0 for byte in kana[::2]) > 1


def format_of(path: Path, text: str) -> str:
    """Return the format of the text. The suffix decides only if the text leaves a choice. RecordError."""
    if text.lstrip().startswith("{"):
        return "jkf"
    named = SUFFIXES.get(path.suffix.lower(), "")
    found = [kind for kind, line in MOVE_LINES.items() if line.search(text)]
    found += ["usi"] if usi_text.is_usi(text) else []
    if not found:
        found = [kind for kind, head in HEADS.items() if head.search(text)]
        found += ["ki2"] if "kif" in found else []
    if named in found or (named and not found):
        return named
    if not found:
        raise RecordError(_("not a game record of a known format (KIF, KI2, CSA, JKF, USI)"))
    return found[0]


def has_moves(text: str, start: str) -> bool:
    """Return True if a line of the text has moves of KIF, KI2 or CSA. Notes to a position of its own may have some."""
    patterns = [*MOVE_LINES.values(), *([LOOSE_MOVE] if start in HANDICAP_NAMES else [])]
    return any(line.search(text) for line in patterns)


def parts_of(kind: str, text: str) -> list[tuple[int, str]]:
    """Return the text of each game with the number of its first line, from 0. RecordError if there is none."""
    if kind == "usi":
        parts = usi_text.split(text)
    elif kind == "csa":
        parts = csa.split(text)
    else:
        begins = kif.HINT, MOVE_LINES["kif"], MOVE_LINES["ki2"], LOOSE_MOVE
        parts = [(0, text)] if kind == "jkf" or any(line.search(text) for line in begins) else []
    if not parts:
        raise RecordError(_("the file holds no game"))
    return parts
