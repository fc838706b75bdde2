"""The formats of game records through rsshogi: their names, how they are told apart, text to records and back.

rsshogi reads and writes every format. What is added here is strictness, as its readers skip some text that is no move
(an unknown word ends a KIF game, half a CSA move is dropped), and the perspective of values: in comments they are
Black's, as on Floodgate, while rsshogi hands CSA's on unchanged, writes KI2's unchanged and turns KIF's around.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from usi_engine.records.ki2 import resolved, taken_apart

MISSING = "reading and writing game records needs rsshogi (the extra `analysis`): pip install rsshogi"
# By suffix; the names are those of `--to`.
SUFFIXES = {
    ".kif": "kif", ".kifu": "kif", ".ki2": "ki2", ".ki2u": "ki2", ".csa": "csa", ".jkf": "jkf", ".json": "jkf",
    ".usi": "usi", ".sfen": "usi",
}  # fmt: skip
FORMATS = ("kif", "ki2", "csa", "jkf", "usi")
# Suffixes whose files are Shift-JIS by convention; the same with a `u` are UTF-8.
SHIFT_JIS_SUFFIXES = (".kif", ".ki2")
# Python's name for Shift-JIS as Windows programs write it.
SHIFT_JIS = "cp932"

KIF_HINT = re.compile(r"^(手合割|手数-|先手|後手|下手|上手)|^\s*\d+\s+[１-９同]", re.M)
KI2_HINT = re.compile(r"^[▲△▼▽☗☖][\s　]*[１-９同]", re.M)
KIF_MOVE = re.compile(r"^\s*[0-9]+[\s手]+[１-９同]", re.M)
VARIATION = re.compile(r"^変化[：:]", re.M)
CSA_HINT = re.compile(r"^(V[23]|N[+-]|PI|P1|\$EVENT|'CSA|[+-]\d{4}[A-Z]{2})", re.M)
USI_WORDS = ("position", "startpos", "sfen")
USI_MOVE = re.compile(r"([1-9][a-i]){2}\+?|[PLNSGBR]\*[1-9][a-i]")
# Comments of KIF that hold for no position (`#`), bookmarks (`&`): rsshogi knows neither within the moves.
KIF_NO_TEXT = re.compile(r"^[#&].*$", re.M)
# A comment of two stars: rsshogi drops the second, which marks an engine's line, unless something follows the first.
KIF_ENGINE_LINE = re.compile(r"^\*\*(?!評価値=)", re.M)
GUARD = "\ue000"


class RecordError(ValueError):
    """A record that cannot be read or written; the text is one line with the place."""


def rsshogi(name: str) -> Any:
    """A module of rsshogi. RecordError where it is not installed."""
    try:
        return import_module(f"rsshogi.{name}")
    except ImportError:
        raise RecordError(MISSING) from None


def decoded(data: bytes) -> str:
    """The text of a file in UTF-8, with or without its mark, or in Shift-JIS. RecordError."""
    for encoding in ("utf-8-sig", SHIFT_JIS):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise RecordError("neither UTF-8 nor Shift-JIS text")


def format_of(path: Path, text: str) -> str:
    """By the suffix, else by what the text looks like. RecordError."""
    known = SUFFIXES.get(path.suffix.lower())
    if known:
        return known
    if text.lstrip().startswith("{"):
        return "jkf"
    hints = (("csa", CSA_HINT), ("ki2", KI2_HINT), ("kif", KIF_HINT))
    found = [name for name, hint in hints if hint.search(text)]
    if not found and looks_like_usi(text):
        return "usi"
    if not found:
        raise RecordError("not a game record of a known format (KIF, KI2, CSA, JKF, USI)")
    return found[0]


def looks_like_usi(text: str) -> bool:
    """Whether the first word of the text begins a USI position, an sfen or a move."""
    first = next(iter(text.split()), "")
    return first in USI_WORDS or first.count("/") == 8 or USI_MOVE.fullmatch(first) is not None


# ---- text to records ----


def read_kif(text: str) -> Any:
    """KIF; variations are skipped. ValueError."""
    check_handicap(text)
    main = main_line(text)
    record = known_end(rsshogi("record").Record.from_kif_str(KIF_ENGINE_LINE.sub("*" + GUARD, main)))
    return with_moves(record, len(KIF_MOVE.findall(main)))


def read_ki2(text: str) -> Any:
    """KI2; variations are skipped. ValueError, MisplacedMove."""
    check_handicap(text)
    apart, library = taken_apart(main_line(text)), rsshogi("record")
    frame = known_end(library.Record.from_ki2_str("\n".join(apart.other) + "\n"))
    comments = {count: "\n".join(lines) for count, lines in apart.comments.items()}
    moves = resolved(frame.init_position_sfen, apart, rsshogi("core"))
    entries = [library.MoveEntry(move, comment=comments.get(count)) for count, move in enumerate(moves, 1)]
    return rebuilt(frame, entries, comments.get(0))


def main_line(text: str) -> str:
    """The text before its variations, without what rsshogi does not know; no line changes its number."""
    return VARIATION.split(KIF_NO_TEXT.sub("", text), maxsplit=1)[0]


def read_csa(text: str) -> Any:
    """CSA, one game. ValueError."""
    lines = [line for line in text.splitlines() if not line.startswith(("'", "N", "$"))]
    statements = [word.strip() for line in lines for word in line.split(",")]
    moves = [word for word in statements if word[:1] in ("+", "-") and len(word) > 1]
    for move in moves:
        if len(move) != 7:
            raise ValueError(f"not a move: '{move}'")
    return with_moves(known_end(rsshogi("record").Record.from_csa_str(text)), len(moves))


def read_jkf(text: str) -> Any:
    """JKF. ValueError."""
    data = json_of(text)
    entries = data.get("moves") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise ValueError("there is no list `moves`")
    count = sum(isinstance(entry, dict) and "move" in entry for entry in entries)
    return with_moves(known_end(rsshogi("record").Record.from_jkf_str(text)), count)


def json_of(text: str) -> Any:
    """ValueError where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("no JSON of a record: nested too deeply") from None


def read_usi(line: str) -> Any:
    """`[position] startpos|sfen ... [moves ...]`, an sfen, or moves from the start position. ValueError."""
    words = line.split()
    text = f"startpos moves {line}" if words and USI_MOVE.fullmatch(words[0]) else line.strip()
    return rsshogi("record").Record.from_usi_position(text, allow_special_tokens=True)


def check_handicap(text: str) -> None:
    """ValueError for a handicap of unknown name without a diagram; rsshogi takes it for an even game."""
    named = re.search(r"^手合割\s*[：:]\s*(\S+)", text, re.M)
    known = rsshogi("initial_positions").HANDICAP_TO_SFEN
    if named and named[1] not in known and "|" not in text:
        raise ValueError(f"unknown handicap: '{named[1]}'")


def known_end(record: Any) -> Any:
    """The record. ValueError where a word that is no move and no known end of a game ended it."""
    end = record.main_terminal
    if end is not None and end.kind == "UNKNOWN":
        raise ValueError(f"not a move: '{end.unknown_name}'")
    return record


def with_moves(record: Any, count: int) -> Any:
    """The record. ValueError where it has not so many moves as its text."""
    if len(record.moves) != count:
        raise ValueError(f"not a move: {count} stand in the text, {len(record.moves)} were read")
    return record


READERS: dict[str, Callable[[str], Any]] = {
    "kif": read_kif, "ki2": read_ki2, "csa": read_csa, "jkf": read_jkf, "usi": read_usi,
}  # fmt: skip


# ---- records to text ----


def entries_of(record: Any, kind: str) -> list[Any]:
    """The moves of a record read from this format, with their comments; values are the mover's."""
    entries = record.moves
    white_begins = record.init_position_sfen.split()[1] == "w"
    for ply, entry in enumerate(entries):
        if entry.comment:
            entry.comment = entry.comment.replace(GUARD, "*")
        if kind == "csa":
            turn_value(entry, ply, white_begins)
    return list(entries)


def turn_value(entry: Any, ply: int, white_begins: bool) -> None:
    """Change the value of a move between the mover's and Black's view."""
    info = entry.engine_info
    if info is not None and info.eval is not None and (ply % 2 == 1) != white_begins:
        info.eval = -info.eval
        entry.engine_info = info


def comment_before(record: Any) -> str | None:
    """The comment before the first move."""
    comment: str | None = record.initial_comment
    return comment.replace(GUARD, "*") if comment else comment


def rebuilt(record: Any, entries: list[Any], initial_comment: str | None) -> Any:
    """The record with other comments; start, metadata and end are kept."""
    terminal = record.main_terminal
    make = rsshogi("record").Record.from_main_line
    return make(record.init_position_sfen, entries, terminal, record.metadata, initial_comment)


def text_of(record: Any, read_from: str, kind: str) -> str:
    """The record in format `kind`, ending with a newline. `read_from`: the format it was read from."""
    entries = entries_of(record, read_from)
    if kind in ("csa", "ki2"):
        white_begins = record.init_position_sfen.split()[1] == "w"
        for ply, entry in enumerate(entries):
            turn_value(entry, ply, white_begins)
    return written(rebuilt(record, entries, comment_before(record)), kind)


def written(record: Any, kind: str) -> str:
    """The text of an rsshogi record. RecordError where its end and its winner contradict each other."""
    try:
        text = record.to_usi_position() if kind == "usi" else getattr(record, f"to_{kind}")()
    except ValueError as error:
        raise RecordError(f"the record cannot be written: {error}") from None
    return str(text).rstrip("\n") + "\n"
