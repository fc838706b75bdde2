"""Faults of game records: line, number of the move, quoted text, reason.

rsshogi gives the reason but not the line. The faulty line is the one after the longest beginning of the text that can
still be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rsshogi.record import Record

QUOTED = 60  # characters of the text that a message shows


class RecordError(ValueError):
    """A record that cannot be read or written; the text is one line that names the place."""


@dataclass(frozen=True)
class Fault:
    """A fault of a record or of one item in a file: reason, line in the text (from 1), number of the move, quoted text.

    Line and move are 0 if they are not known.
    """

    reason: str
    line: int = 0
    move: int = 0
    quoted: str = ""

    def text(self, first_line: int = 0) -> str:
        """Return `line N, move M: reason: 'quoted'`; the text begins after `first_line` lines of its file."""
        places = [f"line {first_line + self.line}"] if self.line else []
        places += [f"move {self.move}"] if self.move else []
        quoted = f": '{self.quoted}'" if self.quoted else ""
        return f"{', '.join(places) or 'record'}: {self.reason}{quoted}"


class FaultyText(ValueError):
    """Raised by a reader that knows the place of the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text())
        self.fault = fault


def fault_in_lines(
    read: Callable[[str], Any], text: str, error: ValueError, move_number: Callable[[str, str], int]
) -> Fault:
    """Find the line that made `read` raise `error`. `move_number` gets the text before that line, and the line."""
    lines = text.splitlines(keepends=True)
    count = readable_parts(read, lines, "")
    if count == len(lines):
        return Fault(reason_of(error))
    before, line = "".join(lines[:count]), lines[count]
    return Fault(reason_of(error), count + 1, move_number(before, line), excerpt(line))


def readable_parts(read: Callable[[str], Any], parts: Sequence[str], between: str) -> int:
    """Return the greatest number of leading parts that can be read when joined; 0 if there is none."""
    for count in range(len(parts), 0, -1):
        try:
            read(between.join(parts[:count]))
        except ValueError:
            continue
        return count
    return 0


def reason_of(error: ValueError) -> str:
    """Return a reader's error in words of our own, without the place and the quoted text."""
    text = str(error)
    if "not match the side" in text:
        return "a move of the other side"
    if "illegal" in text or "KIF move" in text:
        return "illegal move"
    if text.startswith(("not a move", "invalid")):
        return "not a move" if text.startswith("not a move") else "cannot be read"
    return text.partition(": '")[0]


def excerpt(text: str) -> str:
    """Return the text as messages quote it: printable, on one line, shortened."""
    plain = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return plain if len(plain) <= QUOTED else plain[:QUOTED] + "..."


def strict(record: Record, count: int) -> Record:
    """Return a record that rsshogi has read. ValueError if it skipped text that is neither a move nor a known end.

    `count` is the number of moves in the text.
    """
    end = record.main_terminal
    if end is not None and end.kind == "UNKNOWN":
        raise ValueError(f"not a move: '{end.unknown_name}'")
    if len(record.moves) != count:
        raise ValueError(f"not a move: the text has {count}, {len(record.moves)} were read")
    return record


def one_line(text: str) -> str:
    """Return the text with its line ends as spaces."""
    return " ".join(text.splitlines()).strip()
