"""The dialogue on a terminal: the board is drawn in place, in colour, and clocks run while the person thinks.

Each prompt draws the whole screen from its first line: board, then messages, then the prompt. Therefore the rows of the
clocks are known, and a thread rewrites them while the cursor stays in the line that the person edits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from usi_engine.columns import cells, wrap
from usi_engine.play.screen import Cell, Screen
from usi_engine.play.view import Labels, View, safe
from usi_engine.usi.output import repeated

if TYPE_CHECKING:
    from core_ext.board import Board

# All are colours of the 256-colour cube. A terminal's theme may change the 16 basic colours, but not these.
INKS = {"black": "#000000", "white": "#0000af", "promoted": "#af0000"}
SQUARE, LAST_SQUARE = "#ffd787", "#ffffaf"
COLOURS = ("256", "truecolor")
HOME, CLEAR_BELOW, SAVE, RESTORE, CLEAR_LINE = "\x1b[H", "\x1b[J", "\x1b7", "\x1b8", "\x1b[K"
TICK_SECONDS = 0.1
KEPT_MESSAGES = 50


def style_of(cell: Cell, coloured: bool) -> Style:
    """Return the style of a cell. A text colour always comes with a background colour."""
    if cell.ink not in INKS:
        return Style(bold=cell.ink == "turn")
    if coloured:
        return Style(color=INKS[cell.ink], bgcolor=LAST_SQUARE if cell.last else SQUARE)
    return Style(reverse=cell.last)


def drawn(rows: Iterable[list[Cell]], coloured: bool) -> list[Text]:
    """Return rows of cells as rich's texts."""
    return [Text.assemble(*((cell.text, style_of(cell, coloured)) for cell in row), no_wrap=True) for row in rows]


class Terminal(View):
    """A view that draws in place. `ticking`: the labels have running clocks."""

    def __init__(
        self, screen: Screen, console: Console, ticking: bool = False, read: Callable[[str], str] = input
    ) -> None:
        super().__init__(screen, read)
        self._console, self._ticks = console, ticking
        self._coloured = console.color_system in COLOURS and not console.no_color
        self._board: Board | None = None
        self._labels: Labels = lambda: ("", "")
        self._messages: list[str] = []
        self._size = console.size  # of the screen when it was drawn
        self._shown: list[Text] = []  # the rows on the screen, the first at its top; empty if it was not drawn in place

    @property
    def width(self) -> int:
        """The columns of the terminal."""
        return self._console.width

    def show(self, board: Board, labels: Labels) -> None:
        """Show the board from the next prompt on."""
        if self._board is None:
            self._console.file.write("\n" * self._console.height)  # keeps what is on the screen, above it
        self._board, self._labels = board, labels

    def say(self, text: str) -> None:
        """Show lines of text from the next prompt on; if there is no board yet, also now."""
        text = safe(text)
        if self._board is None:
            self._console.print(Text(text))
        self._messages = [*self._messages[-KEPT_MESSAGES:], text]

    def read(self, prompt: str) -> str:
        """Draw, and return a line from the person. EOFError."""
        self._draw()
        with self._clocks_running():
            return self._read(prompt)

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Draw, and show that the person must wait."""
        self._draw()
        self._console.print(Text(text), end="")
        with self._clocks_running():
            yield

    def _draw(self) -> None:
        """Draw board and messages from the top of the screen, or below what is there if it is too small."""
        if self._board is None:
            return
        size, rows = self._console.size, self._rows()
        room = size.height - len(rows) - 2
        messages = [self._wrapped(text) for text in self._messages]
        if messages and len(messages[-1]) > max(room, 1):
            self._print([], messages[-1], in_place=False)
            del self._messages[-1]
        elif room < 1 or max(row.cell_len for row in rows[1:-1]) >= size.width:
            self._print(rows, messages[-1] if messages else [], in_place=False)
        else:
            self._print(rows, [line for lines in messages for line in lines][-room:], in_place=True)
        self._size = size

    def _print(self, rows: list[Text], lines: list[Text], in_place: bool) -> None:
        with self._console.capture() as captured:
            for row in [*rows, *lines]:
                self._console.print(row, overflow="ignore", crop=False)
        self._console.file.write((HOME + CLEAR_BELOW if in_place else "\n") + captured.get())
        self._console.file.flush()
        self._shown = rows if in_place else []

    def _rows(self) -> list[Text]:
        assert self._board is not None
        rows = drawn(self.screen.rows(self._board, self._labels()), self._coloured)
        for hand in (rows[0], rows[-1]):
            hand.truncate(max(self.width - 1, 1), overflow="crop")
        return rows

    def _wrapped(self, text: str) -> list[Text]:
        """Return the text as lines that fit; a word that is wider is broken."""
        width, lines = max(self.width - 1, 1), list[str]()
        for line in text.split("\n"):
            lines += [line] if cells(line) <= width else wrap(line, width)
        return [part for line in lines for part in Text(line).wrap(self._console, width)]

    @contextmanager
    def _clocks_running(self) -> Iterator[None]:
        if not (self._ticks and self._shown):
            yield
            return
        with repeated(self._tick, TICK_SECONDS):
            yield

    def _tick(self) -> None:
        """Write the rows that have changed, unless the screen has another size than when it was drawn."""
        if self._console.size != self._size:
            return
        rows = self._rows()
        changed = [number for number, row in enumerate(rows) if row != self._shown[number]]
        text = "".join(f"\x1b[{number + 1};1H{self._ansi(rows[number])}{CLEAR_LINE}" for number in changed)
        self._shown = rows
        if text:
            with suppress(OSError, ValueError):
                self._console.file.write(SAVE + text + RESTORE)
                self._console.file.flush()

    def _ansi(self, row: Text) -> str:
        with self._console.capture() as captured:
            self._console.print(row, overflow="ignore", crop=False, end="")
        return captured.get()


def view_of_terminal(screen: Screen, ticking: bool) -> View:
    """Return a view that draws in place, or one of plain lines if the terminal cannot move its cursor."""
    if os.name == "nt":
        os.system("")  # makes the Windows console interpret escape sequences
    console = Console(highlight=False)
    plain = console.legacy_windows or console.is_dumb_terminal
    return View(screen) if plain else Terminal(screen, console, ticking)
