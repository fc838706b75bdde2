"""CSA, read by rsshogi, with checks that its reader lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rsshogi.record import Record

from usi_engine.records.faults import Fault, fault_in_lines, strict

HINT = re.compile(r"^(V[23]|N[+-]|PI|P1|\$EVENT|'CSA|[+-]\d{4}[A-Z]{2})", re.M)
# A line that is neither empty nor a comment.
STATEMENT = re.compile(r"^[^\S\n]*[^\s']", re.M)


def read(text: str) -> Record:
    """Read one game. ValueError."""
    lines = [line for line in text.splitlines() if not line.startswith(("'", "N", "$"))]
    statements = [word.strip() for line in lines for word in line.split(",")]
    moves = [word for word in statements if word[:1] in ("+", "-") and len(word) > 1]
    for move in moves:
        if len(move) != 7:
            raise ValueError(f"not a move: '{move}'")
    return strict(Record.from_csa_str(text), len(moves))


def find_fault(text: str, error: ValueError) -> Fault:
    """Find the fault for which `read` raised `error`."""
    return fault_in_lines(read, text, error, move_number)


def move_number(before: str, line: str) -> int:
    """Return the number of the move in a line; 0 if the line has none."""
    if not line.startswith(("+", "-")):
        return 0
    return len(read(before).moves) + 1 if before.strip() else 1


def split(text: str) -> list[tuple[int, str]]:
    """Return the games between lines of `/`, each with the number of its first line, from 0."""
    lines = text.splitlines()
    ends = [at for at, line in enumerate(lines) if line.strip() == "/"]
    spans = zip([0, *(at + 1 for at in ends)], [*ends, len(lines)], strict=True)
    games = [(begin, "\n".join(lines[begin:end]) + "\n") for begin, end in spans]
    return [(at, game) for at, game in games if STATEMENT.search(game)]


def read_position(lines: Iterable[str]) -> str:
    """Return the sfen of a position that is given as lines of CSA. ValueError."""
    text = "".join(line + "\n" for line in lines)
    try:
        if not text.startswith("P"):
            raise ValueError(f"it begins '{text[:20].strip()}'")
        return Record.from_csa_str(text).init_position_sfen
    except ValueError as error:
        raise ValueError(f"no CSA position: {error}") from None
