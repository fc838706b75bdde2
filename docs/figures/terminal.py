"""Draw pictures of a game in the terminal, on dark, light and Solarized backgrounds and without colour, as SVG.

python -m docs.figures.terminal FOLDER
"""

from __future__ import annotations

import html
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from core_ext.board import Board
from usi_engine.play.screen import Screen
from usi_engine.play.terminal import Terminal

# Background and text colour of each terminal. The 16 basic colours do not appear.
TERMINALS = {
    "dark": ("#000000", "#e5e5e5"),
    "light": ("#ffffff", "#000000"),
    "solarized-dark": ("#002b36", "#839496"),
    "solarized-light": ("#fdf6e3", "#657b83"),
    "no-colour": ("#ffffff", "#000000"),
}
COLUMNS, ROWS = 56, 18
ACROSS, DOWN = 10, 20  # pixels of a column and of a row
MOVES = ("7g7f", "3c3d", "2g2f", "4c4d", "3i4h", "3a3b", "5g5f", "8b4b")
LABELS = ("Player 8:41", "Komadori level 12 9:27")
LINES = ("7. ▲５六歩 (5g5f)", "8. △４二飛 (8b4b), from the book")
PROMPT = "9. Black 8:41> ２五歩"


def written(coloured: bool) -> Text:
    """Return what `play` writes to a terminal."""
    output = io.StringIO()
    console = Console(
        file=output, force_terminal=True, width=COLUMNS, color_system="truecolor", no_color=not coloured,
        legacy_windows=False,
    )  # fmt: skip
    Terminal(Screen(), console).show(Board.from_moves(MOVES), LABELS)
    return Text.from_ansi("\n".join([output.getvalue().strip("\n"), *LINES, PROMPT]))


def picture(name: str) -> str:
    """Return a terminal as SVG."""
    background, ink = TERMINALS[name]
    size = f'width="{COLUMNS * ACROSS}" height="{ROWS * DOWN}"'
    fonts = 'font-family="DejaVu Sans Mono, Noto Sans CJK JP, monospace" font-size="16" text-anchor="middle"'
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {fonts}>', f'<rect {size} fill="{background}"/>']
    for row, line in enumerate(Console(width=COLUMNS).render_lines(written(name != "no-colour"), pad=False)):
        left = 0
        for text, style, _control in line:
            drawn += letters(text, style or Style(), (left, row * DOWN), (background, ink))
            left += cell_len(text) * ACROSS
    return "\n".join([*drawn, "</svg>\n"])


def letters(text: str, style: Style, place: tuple[int, int], colours: tuple[str, str]) -> Iterator[str]:
    """Yield each letter, with its background if it has one. `colours`: the terminal's background and text colour."""
    (left, top), (background, ink) = place, colours
    above = style.bgcolor.get_truecolor().hex if style.bgcolor else ink if style.reverse else ""
    fill = style.color.get_truecolor().hex if style.color else background if style.reverse else ink
    weight = ' font-weight="bold"' if style.bold else ""
    for letter in text:
        width = cell_len(letter) * ACROSS
        if above:
            yield f'<rect x="{left}" y="{top}" width="{width}" height="{DOWN}" fill="{above}"/>'
        if not letter.isspace():
            base = f'x="{left + width / 2:g}" y="{top + 0.78 * DOWN:g}"'
            yield f'<text {base} fill="{fill}"{weight}>{html.escape(letter)}</text>'
        left += width


def main(folder: Path) -> None:
    """Write a picture of each terminal into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TERMINALS:
        (folder / f"terminal-{name}.svg").write_text(picture(name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
