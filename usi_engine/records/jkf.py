"""JKF, records as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from rsshogi.record import Record

from usi_engine.records.faults import QUOTED, Fault, excerpt, reason_of, strict

INDEX = re.compile(r"index (\d{1,6})\b")


def read(text: str) -> Record:
    """Read JKF. ValueError."""
    data = parse(text)
    entries = data.get("moves") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise ValueError("there is no list `moves`")
    count = sum(isinstance(entry, dict) and "move" in entry for entry in entries)
    return strict(Record.from_jkf_str(text), count)


def parse(text: str) -> Any:
    """Parse JSON. ValueError, also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("no JSON of a record: nested too deeply") from None


def find_fault(text: str, error: ValueError) -> Fault:
    """Find the line of a syntax error, or the number of the move for which `read` raised `error`."""
    try:
        parse(text)
    except json.JSONDecodeError as broken:
        near = text[max(broken.pos - QUOTED // 2, 0) : broken.pos + QUOTED // 2]
        return Fault(f"no JSON: {broken.msg}", broken.lineno, quoted=excerpt(near))
    except ValueError:
        return Fault(reason_of(error))
    index = INDEX.search(str(error))
    number = int(index[1]) if index else 0
    return Fault(reason_of(error), move=number, quoted=excerpt(move_text(text, number)))


def move_text(text: str, number: int) -> str:
    """Return the move of this number as in the text, without quotation marks; empty if there is none."""
    try:
        move = parse(text)["moves"][number]["move"] if number else ""
    except (LookupError, TypeError):
        return ""
    return json.dumps(move, ensure_ascii=False, separators=(",", ":")).replace('"', "")
