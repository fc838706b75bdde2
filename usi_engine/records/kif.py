"""KIF, read by rsshogi, with checks and details that its reader lacks."""

from __future__ import annotations

import re

from rsshogi.initial_positions import HANDICAP_TO_SFEN
from rsshogi.record import Record

from usi_engine.records.faults import Fault, fault_in_lines, strict

HINT = re.compile(r"^(手合割|手数-|先手|後手|下手|上手)|^\s*\d+\s+[１-９同]", re.M)
MOVE = re.compile(r"^\s*[0-9]+[\s手]+[１-９同]", re.M)
NUMBER = re.compile(r"\s*([0-9]{1,6})(?!\d)[\s手]*\S")
VARIATION = re.compile(r"^変化[：:]", re.M)
# Comments that belong to no position (`#`) and bookmarks (`&`): rsshogi accepts neither between moves.
NOTE = re.compile(r"^[#&].*$", re.M)
# A comment of two stars: rsshogi drops the second, which marks an engine's line, unless something follows the first.
ENGINE_LINE = re.compile(r"^\*\*(?!評価値=)", re.M)
GUARD = "\ue000"


def read(text: str) -> Record:
    """Read KIF; variations are skipped. ValueError."""
    check_handicap(text)
    main = main_line(text)
    return strict(Record.from_kif_str(ENGINE_LINE.sub("*" + GUARD, main)), len(MOVE.findall(main)))


def find_fault(text: str, error: ValueError) -> Fault:
    """Find the fault for which `read` raised `error`."""
    return fault_in_lines(read, text, error, move_number)


def move_number(before: str, line: str) -> int:
    """Return the number at the beginning of a line; 0 if there is none."""
    numbered = NUMBER.match(line)
    return int(numbered[1]) if numbered else 0


def main_line(text: str) -> str:
    """Return the text before its variations, without notes and bookmarks; lines keep their numbers."""
    return VARIATION.split(NOTE.sub("", text), maxsplit=1)[0]


def check_handicap(text: str) -> None:
    """Raise ValueError for an unknown handicap without a diagram, which rsshogi takes for an even game."""
    named = re.search(r"^手合割\s*[：:]\s*(\S+)", text, re.M)
    if named and named[1] not in HANDICAP_TO_SFEN and "|" not in text:
        raise ValueError(f"unknown handicap: '{named[1]}'")
