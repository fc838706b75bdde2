"""Where a record is at fault: line, number of the move, the text, the reason.

rsshogi names the fault but not the line. The line is the first after the longest part of the text, line by line, that
can be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from usi_engine.records.formats import READERS, json_of
from usi_engine.records.ki2 import MisplacedMove

QUOTED = 60  # characters of the text that a message shows
KIF_NUMBER = re.compile(r"\s*([0-9]{1,6})(?!\d)[\s手]*\S")
JKF_INDEX = re.compile(r"index (\d{1,6})\b")


@dataclass(frozen=True)
class Fault:
    """A fault: line within the text (from 1; 0: unknown), number of the move (0: none), the text, the reason."""

    line: int
    move: int
    quoted: str
    reason: str

    def text(self, first_line: int = 0) -> str:
        """`line N, move M: reason: 'text'`; `first_line` counts the lines of the file before the text."""
        places = [f"line {first_line + self.line}"] if self.line else []
        places += [f"move {self.move}"] if self.move else []
        quoted = f": '{self.quoted}'" if self.quoted else ""
        return f"{', '.join(places) or 'record'}: {self.reason}{quoted}"


def fault_of(kind: str, text: str, error: ValueError) -> Fault:
    """The place of the fault that made the reader of this format refuse the text with this error."""
    if isinstance(error, MisplacedMove):
        return Fault(error.line, error.number, shown(error.text), error.reason)
    finders: dict[str, Callable[[str, ValueError], Fault]] = {"jkf": in_jkf, "usi": in_usi}
    if kind in finders:
        return finders[kind](text, error)
    return in_lines(kind, text, error)


def in_lines(kind: str, text: str, error: ValueError) -> Fault:
    """KIF, KI2 and CSA."""
    lines = text.splitlines(keepends=True)
    good = readable(READERS[kind], lines, "")
    if good == len(lines):
        return Fault(0, 0, "", reason(error))
    before, line = "".join(lines[:good]), lines[good]
    return Fault(good + 1, number_of(kind, before, line), shown(line), reason(error))


def in_usi(text: str, error: ValueError) -> Fault:
    """A line of USI."""
    words = text.split()
    good = readable(READERS["usi"], words, " ")
    if good == len(words):
        return Fault(1, 0, shown(text), reason(error))
    moves = words.index("moves") if "moves" in words[:good] else -1
    named = "/" in text or {"startpos", "sfen"} & set(words)
    number = good - moves if moves >= 0 or not named else 0
    return Fault(1, max(number, 0), shown(words[good]), reason(error))


def in_jkf(text: str, error: ValueError) -> Fault:
    """JKF: a line where it is no JSON, else the number of the move."""
    try:
        json_of(text)
    except json.JSONDecodeError as broken:
        near = text[max(broken.pos - QUOTED // 2, 0) : broken.pos + QUOTED // 2]
        return Fault(broken.lineno, 0, shown(near), f"no JSON: {broken.msg}")
    except ValueError:
        return Fault(0, 0, "", reason(error))
    index = JKF_INDEX.search(str(error))
    number = int(index[1]) if index else 0
    return Fault(0, number, shown(jkf_move(text, number)), reason(error))


def jkf_move(text: str, number: int) -> str:
    """What the record holds as this move, without JSON's quotation marks; empty where it holds none."""
    try:
        move = json_of(text)["moves"][number]["move"] if number else ""
    except (LookupError, TypeError):
        return ""
    return json.dumps(move, ensure_ascii=False, separators=(",", ":")).replace('"', "")


def readable(reader: Callable[[str], Any], parts: Sequence[str], between: str) -> int:
    """How many of the parts, joined, can be read; where not even the first can, 0."""
    for count in range(len(parts), 0, -1):
        try:
            reader(between.join(parts[:count]))
        except ValueError:
            continue
        return count
    return 0


def number_of(kind: str, before: str, line: str) -> int:
    """The number of the move in this line; 0 where it holds none."""
    if kind == "kif":
        numbered = KIF_NUMBER.match(line)
        return int(numbered[1]) if numbered else 0
    if kind == "ki2" or not line.startswith(("+", "-")):
        return 0
    return len(READERS[kind](before).moves) + 1 if before.strip() else 1


def reason(error: ValueError) -> str:
    """The error of a reader in words of our own, without what the place and the quoted text say."""
    text = str(error)
    if "not match the side" in text:
        return "a move of the other side"
    if "illegal" in text or "KIF move" in text:
        return "illegal move"
    if text.startswith(("not a move", "invalid")):
        return "not a move" if text.startswith("not a move") else "cannot be read"
    return text.partition(": '")[0]


def shown(text: str) -> str:
    """The text as a message quotes it."""
    plain = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return plain if len(plain) <= QUOTED else plain[:QUOTED] + "..."
