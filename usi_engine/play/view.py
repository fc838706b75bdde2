"""The dialogue as plain lines, as scripts and tests read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from usi_engine.play.screen import Screen
from usi_engine.usi.output import printable

if TYPE_CHECKING:
    from core_ext.board import Board

WIDTH = 80  # of plain lines
# The texts before Black's hand and White's: names and clocks, which may run.
Labels = Callable[[], tuple[str, str]]


def say_now(text: str) -> None:
    """Print lines and flush the output. The text need not be trusted."""
    print(safe(text), flush=True)


def safe(text: str) -> str:
    """Return lines of text with control characters made visible."""
    return "\n".join(map(printable, text.split("\n")))


class View:
    """The output and input of a dialogue. `read` returns a line for a prompt (EOFError at the end)."""

    def __init__(
        self, screen: Screen, read: Callable[[str], str] = input, say: Callable[[str], None] = say_now
    ) -> None:
        self.screen, self._read, self._say = screen, read, say

    @property
    def width(self) -> int:
        """The columns of the output."""
        return WIDTH

    def show(self, board: Board, labels: Labels) -> None:
        """Show the board, which a view may keep and draw again."""
        self.say("\n" + self.screen.text(board, labels()))

    def say(self, text: str) -> None:
        """Show lines of text."""
        self._say(text)

    def read(self, prompt: str) -> str:
        """Return a line from the person. EOFError."""
        return self._read(prompt)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show that the person must wait."""
        yield
