"""Faults of game records: line, number of the move, quoted text, reason."""

from dataclasses import dataclass

from usi_engine.core import translated
from usi_engine.language import _


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
        places = [_("line {number}").format(number=first_line + self.line)] if self.line else []
        places += [_("move {number}").format(number=self.move)] if self.move else []
        named, place = _("{place}: {reason}"), _(", ").join(places) or _("record")
        text = named.format(place=place, reason=translated(self.reason))
        return named.format(place=text, reason=f"'{self.quoted}'") if self.quoted else text


class FaultyText(ValueError):
    """A record that a reader cannot read; `fault` has the place."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault

    def __str__(self) -> str:
        return self.fault.text()


def one_line(text: str) -> str:
    """Return the text with its line ends as spaces."""
    return " ".join(text.splitlines()).strip()
