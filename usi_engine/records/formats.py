"""The formats of game records: abilities, suffixes, encodings, detection, reading and writing.

Every record that is written is read back and compared in what its format can hold.
"""

import codecs
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from core_ext.shogi.notation import PASS
from usi_engine.files import write_blocks
from usi_engine.language import _, reason_of
from usi_engine.records import csa, jkf, kif, usi_text
from usi_engine.records.ends import FOUL, End, jkf_name
from usi_engine.records.faults import RecordError
from usi_engine.records.position import HANDICAP_NAMES
from usi_engine.records.tree import Node, Record

# Suffixes and formats; the formats are named as in `--to`.
SUFFIXES = {
    ".kif": "kif", ".kifu": "kif", ".ki2": "ki2", ".ki2u": "ki2", ".csa": "csa", ".jkf": "jkf", ".json": "jkf",
    ".usi": "usi", ".sfen": "usi",
}  # fmt: skip
# Suffixes whose files are Shift-JIS by convention; the same with a `u` are UTF-8.
SHIFT_JIS_SUFFIXES = (".kif", ".ki2")
# Python's name for Shift-JIS as Windows programs write it.
SHIFT_JIS = "cp932"
UTF8_HEADER = "# KIF version=2.0 encoding=UTF-8\n"
CSA_UTF8, CSA_SHIFT_JIS = "'CSA encoding=UTF-8\n", "'CSA encoding=SHIFT_JIS\n"
NAMES_SHIFT_JIS = re.compile(rb"['#][^\r\n]*encoding=shift", re.I)
# The beginnings of KIF and KI2 without moves.
KIF_HEAD = re.compile(r"^(手合割|手数-|先手|後手|下手|上手|攻方|玉方)|^[^\S\n]*[0-9]+[^\S\n]+[１-９同]", re.M)
# A move of KIF or KI2 in a line of another form, which is no header and no comment.
LOOSE_MOVE = re.compile(
    r"^(?![*&#'|]|手数|[^\s：:(]+\s*[：:]).*?[１-９1-9][一二三四五六七八九][成　]*[歩香桂銀金角飛玉王と]", re.M
)


@dataclass(frozen=True)
class Format:
    """A format: `read(text)` returns a Record or raises FaultyText, `write(record)` returns text.

    `unit`: of times, in milliseconds; 0: no times. `moves` finds a line with moves, `head` text without moves.
    """

    read: Callable[[str], Record]
    write: Callable[[Record], str]
    unit: int = 0
    passes: bool = True
    comments: bool = True
    variations: bool = True
    ends: bool = True
    moves: re.Pattern[str] | None = None
    head: re.Pattern[str] | None = None


FORMATS = {
    "kif": Format(kif.read, kif.write_kif, 1000, head=KIF_HEAD, moves=re.compile(
        r"^[^\S\n]*[0-9]+[^\S\n]+[▲△▼▽☗☖]?(?:[１-９1-9][一二三四五六七八九１-９1-9]|同)", re.M)),
    "ki2": Format(kif.read, kif.write_ki2, head=KIF_HEAD, moves=re.compile(r"^[^\S\n]*[▲△▼▽☗☖]", re.M)),
    "csa": Format(csa.read, csa.write, 1, passes=False, variations=False, head=csa.HINT,
                  moves=re.compile(r"^[+-][0-9]{4}[A-Z]{2}", re.M)),
    "jkf": Format(jkf.read, jkf.write, 1000, passes=False),
    "usi": Format(usi_text.read, usi_text.write, comments=False, variations=False, ends=False),
}  # fmt: skip
MOVE_LINES = [one.moves for one in FORMATS.values() if one.moves]

# A half-width voicing mark (ﾞ, ﾟ) that does not follow ｳ, ｶ to ﾄ or ﾊ to ﾎ, as it always does in Japanese.
VOICED_ALONE = re.compile(rb"(?:^|[^\xB3\xB6-\xC4\xCA-\xCE])[\xDE\xDF]")
LARGEST_TEXT = 64 << 20  # bytes; a year of floodgate's games is smaller
MOST_FILES = 1 << 16  # bytes; room for the largest text, in each file, would take longer than the reading


# ---- files ----


def text_of_file(path: Path) -> str:
    """Read and decode a file. RecordError, which names the file."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_FILES)  # the size of a device or a pipe is not known before
            return decoded(data if len(data) < MOST_FILES else data + file.read(LARGEST_TEXT + 1 - MOST_FILES))
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
    for encoding in encodings_of(data):
        try:
            return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a\0")
        except UnicodeDecodeError:
            continue
    raise RecordError(_("neither UTF-8 nor Shift-JIS nor EUC-JP text"))


def encodings_of(data: bytes) -> Iterator[str]:
    """Yield the encodings to try."""
    marked = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    yield from ("iso2022_jp" if b"\x1b$" in data else marked, "utf-8-sig")
    yield SHIFT_JIS if NAMES_SHIFT_JIS.match(data) or is_half_width(data) else "euc_jp"
    yield SHIFT_JIS


def is_half_width(data: bytes) -> bool:
    """Return True if all letters but ASCII are half-width kana in Shift-JIS, and two level-2 kanji in EUC-JP."""
    kana = data.translate(None, bytes(range(0x80)))
    if kana.translate(None, bytes(range(0xA6, 0xE0))) or VOICED_ALONE.search(data):
        return False
    return sum(byte >= 0xD0 for byte in kana[::2]) > 1


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


def format_of(path: Path, text: str) -> str:
    """Return the format of the text. The suffix decides only if the text leaves a choice. RecordError."""
    if text.lstrip().startswith("{"):
        return "jkf"
    named = SUFFIXES.get(path.suffix.lower(), "")
    if (moves := FORMATS[named].moves if named else None) and moves.search(text):
        return named
    found = [kind for kind, one in FORMATS.items() if one.moves and one.moves.search(text)]
    found += ["usi"] if usi_text.is_usi(text) else []
    if not found:
        found = [kind for kind, one in FORMATS.items() if one.head and one.head.search(text)]
    if named in found or (named and not found):
        return named
    if not found:
        raise RecordError(_("not a game record of a known format (KIF, KI2, CSA, JKF, USI)"))
    return "csa" if "csa" in found else found[0]


def has_moves(text: str, start: str) -> bool:
    """Return True if a line of the text has moves of KIF, KI2 or CSA. Notes to a position of its own may have some."""
    patterns = [*MOVE_LINES, *([LOOSE_MOVE] if start in HANDICAP_NAMES else [])]
    return any(line.search(text) for line in patterns)


def parts_of(kind: str, text: str) -> list[tuple[int, str]]:
    """Return the text of each game with the number of its first line, from 0. RecordError if there is none."""
    if kind == "usi":
        parts = usi_text.split(text)
    elif kind == "csa":
        parts = csa.split(text)
    else:
        begins = KIF_HEAD, *MOVE_LINES, LOOSE_MOVE
        parts = [(0, text)] if kind == "jkf" or any(line.search(text) for line in begins) else []
    if not parts:
        raise RecordError(_("the file holds no game"))
    return parts


# ---- writing ----


CommentOf = Callable[[Any], str | None]
OWN: CommentOf = attrgetter("comment")


def local_time(seconds: float | None = None) -> str:
    """Return the time, or the present one, in the form of records."""
    return time.strftime("%Y/%m/%d %H:%M:%S", time.localtime(seconds))


def record_of_moves(start: str, moves: Iterable[Node], end: End | None, header: Mapping[str, str]) -> Record:
    """Return the record of a game of these moves; empty lines of the header and empty comments are left out."""
    record = Record(start, header={key: value for key, value in header.items() if value})
    node = record.root
    for made in moves:
        node = node.add(made.move, made.milliseconds, made.comment or None)
    node.end = end
    return record


def text_of(record: Record, kind: str) -> str:
    """Return the record in a format. RecordError if it reads back differently, or has a pass and the format none."""
    if not FORMATS[kind].passes and any(node.move == PASS for node in nodes_of(record, FORMATS[kind])):
        raise RecordError(_("{kind} cannot hold a pass; write KIF, KI2 or USI").format(kind=kind.upper()))
    text = FORMATS[kind].write(record)
    verify(text, record, kind)
    return text


def verify(text: str, record: Record, kind: str, comment_of: CommentOf = OWN) -> None:
    """Raise RecordError if the text does not read back as the record, with the comments that `comment_of` returns."""
    try:
        again = FORMATS[kind].read(text)
    except ValueError as error:
        message = _("the text of the record cannot be read back: {reason}")
        raise RecordError(message.format(reason=error)) from None
    before, after = held(record, kind, comment_of), held(again, kind)
    if before != after:
        differing = next((pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]), (before, after))
        message = _("the text of the record reads back differently: {after} instead of {before}")
        raise RecordError(message.format(before=differing[0], after=differing[1]))


def held(record: Record, kind: str, comment_of: CommentOf = OWN) -> list[Any]:
    """Return what the format holds of a record: start, then by node move, number of variations, time, comment, end."""
    holds = FORMATS[kind]
    parts: list[Any] = [record.start.split()[:3]]
    plies: dict[Node | None, int] = {None: -1}
    for node in nodes_of(record, holds):
        plies[node] = plies[node.parent] + 1
        variations, end = len(node.variations) if holds.variations else 0, None
        if node.end and (name := end_in(node, kind, record.turn(plies[node]))):
            end = (name, *details(node.end, holds))
        parts.append((node.move, variations, *details(node, holds, comment_of), end))
    return parts


def nodes_of(record: Record, holds: Format) -> list[Node]:
    """Return the nodes that the format holds."""
    return list(record.root.nodes()) if holds.variations else [record.root, *record.main_line]


def details(owner: Node | End, holds: Format, comment_of: CommentOf = OWN) -> tuple[int, str | None]:
    """Return the time, in the format's units, and the comment of a move or end."""
    return (owner.milliseconds or 0) // holds.unit if holds.unit else 0, comment_of(owner) if holds.comments else None


def end_in(node: Node, kind: str, turn: int = 0) -> str:
    """Return the end of the node's line as the format names it, empty if it cannot hold it.

    An illegal action of the side to move, `turn`, is an illegal move.
    """
    if not node.end or not FORMATS[kind].ends:
        return ""
    word, name = node.end.word, jkf.end_name(node) if kind == "jkf" else node.end.name
    if name == "+-"[turn] + FOUL:
        name = "ILLEGAL_MOVE"
    return name if kind in ("csa", "jkf") else word or name


def losses(record: Record, kind: str) -> str:
    """Return what the format cannot hold, as `3 variations, 1 comment`; empty if it holds everything."""
    holds = FORMATS[kind]
    nodes = nodes_of(record, holds)
    owners = [owner for node in nodes for owner in (node, node.end) if owner]
    left_out = [node.end for node in nodes if node.end and not end_in(node, kind)]
    commented = [owner for owner in (left_out if holds.comments else owners) if owner.comment is not None]
    timed = [owner for owner in (left_out if holds.unit else owners) if owner.milliseconds]
    fractional = [owner for owner in owners if holds.unit and (owner.milliseconds or 0) % holds.unit]
    lost: dict[tuple[str, ...], int] = {
        (_("move number of the start"),): int(kind != "usi" and record.start.split()[3:] not in ([], ["1"])),
        (_("variation"), _("variations")): 0 if holds.variations else record.count_variations(),
        (_("comment"), _("comments")): len(commented),
        (_("time"), _("times")): len(timed),
        (_("fractional time"), _("fractional times")): len(fractional),
        (_("header line"), _("header lines")): headers_lost(record, kind),
        (_("end"), _("ends")): sum(not is_end_held(node.end, kind) for node in nodes if node.end),
    }
    counted = _("{count} {things}")
    return _(", ").join(counted.format(count=count, things=names[count > 1]) for names, count in lost.items() if count)


def headers_lost(record: Record, kind: str) -> int:
    """Return the number of the header's lines that the format cannot hold."""
    if kind in ("kif", "ki2"):
        return list(kif.header_lines(record).values()).count(False)
    if kind == "csa":
        return sum(":" in key for key in record.header)
    return len(record.header) if kind == "usi" else 0


def is_end_held(end: End, kind: str) -> bool:
    """Return True if the format has the end's own word."""
    if kind in ("csa", "jkf"):
        return not end.word and (kind == "csa" or jkf_name(end.name) == end.name)
    return FORMATS[kind].ends
