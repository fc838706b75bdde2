"""The dialogue on a terminal: the board in colour."""

from rich.console import Console
from rich.style import Style
from rich.text import Text

from core_ext.board import Board
from usi_engine.play.screen import Cell, Screen, View

# All are colours of the 256-colour cube. A terminal's theme may change the 16 basic colours, but not these.
INKS = {"black": "#000000", "white": "#0000af", "promoted": "#af0000"}
SQUARE, LAST_SQUARE = "#ffd787", "#ffffaf"
COLOURS = ("256", "truecolor")


def choose_style(cell: Cell, coloured: bool) -> Style:
    """Return the style of a cell. A text colour always comes with a background colour."""
    if cell.ink not in INKS:
        return Style(bold=cell.ink == "turn")
    if coloured:
        return Style(color=INKS[cell.ink], bgcolor=LAST_SQUARE if cell.last else SQUARE)
    return Style(reverse=cell.last)


class Terminal(View):
    """A view in colour, or with bold and reversed text if the terminal has too few colours."""

    def __init__(self, screen: Screen, console: Console) -> None:
        super().__init__(screen, width=console.width)
        self._console = console
        self._coloured = console.color_system in COLOURS and not console.no_color

    def show(self, board: Board, labels: tuple[str, str]) -> None:
        """Show the board."""
        self._console.print()
        for row in self.screen.rows(board, labels):
            text = Text.assemble(*((cell.text, choose_style(cell, self._coloured)) for cell in row), no_wrap=True)
            self._console.print(text, overflow="ignore", crop=False)

    def wait(self, text: str) -> None:
        """Say that the person must wait."""
        self.say(text)


def view_of_terminal(screen: Screen) -> View:
    """Return a view of standard output; of plain lines if it has no colours."""
    console = Console(highlight=False)
    return View(screen) if console.legacy_windows or console.is_dumb_terminal else Terminal(screen, console)
