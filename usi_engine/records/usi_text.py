"""Games as USI text, one a line."""

from __future__ import annotations

import re

from rsshogi.record import Record

from usi_engine.records.faults import Fault, excerpt, readable_parts, reason_of

MOVE = re.compile(r"([1-9][a-i]){2}\+?|[PLNSGBR]\*[1-9][a-i]")
FIRST_WORDS = ("position", "startpos", "sfen")


def is_usi(text: str) -> bool:
    """Return True if the first word begins a USI position, an sfen or a move."""
    first = next(iter(text.split()), "")
    return first in FIRST_WORDS or first.count("/") == 8 or MOVE.fullmatch(first) is not None


def read(line: str) -> Record:
    """Read `[position] startpos|sfen ... [moves ...]`, an sfen, or moves from the start position. ValueError."""
    words = line.split()
    text = f"startpos moves {line}" if words and MOVE.fullmatch(words[0]) else line.strip()
    return Record.from_usi_position(text, allow_special_tokens=True)


def find_fault(text: str, error: ValueError) -> Fault:
    """Find the word for which `read` raised `error`."""
    words = text.split()
    count = readable_parts(read, words, " ")
    if count == len(words):
        return Fault(reason_of(error), 1, quoted=excerpt(text))
    moves = words.index("moves") if "moves" in words[:count] else -1
    has_start = "/" in text or {"startpos", "sfen"} & set(words)
    number = count - moves if moves >= 0 or not has_start else 0
    return Fault(reason_of(error), 1, max(number, 0), excerpt(words[count]))


def split(text: str) -> list[tuple[int, str]]:
    """Return the games with their line numbers, from 0; empty lines and lines that begin with `#` are skipped."""
    lines = enumerate(text.splitlines())
    return [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]
