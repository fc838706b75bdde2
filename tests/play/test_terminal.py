"""Games on a terminal: colours; questions at the start."""

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.style import Style

from core_ext.board import Board
from tests.programs import ROOT
from usi_engine.play.screen import Screen
from usi_engine.play.terminal import Terminal, choose_style

BOARD = Board("4k4/9/4+P4/9/9/4+p4/9/9/4K4 b 2Rb 1")
# Backgrounds: black, white, Solarized's base03 and base3.
BACKGROUNDS = ["#000000", "#ffffff", "#002b36", "#fdf6e3"]
READABLE = 4.5  # WCAG AA
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # of colours; no others are printed
COLOURED = re.compile(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")


def drawn(board: Board, colours: str = "truecolor", no_colour: bool = False, width: int = 80) -> str:
    """Return the board as a terminal gets it."""
    Style._add.cache_clear()  # rich keeps the escapes of the first console
    output = io.StringIO()
    console = Console(
        file=output, force_terminal=True, width=width, color_system=colours,  # type: ignore[arg-type]
        no_color=no_colour, legacy_windows=False,
    )  # fmt: skip
    Terminal(Screen(), console).show(board, ("Sente", "Gote"))
    return output.getvalue()


def plain(text: str) -> str:
    return ESCAPES.sub("", text)


@pytest.mark.parametrize("width", [20, 80])
def test_the_board_has_the_same_rows_as_plain_text(width: int) -> None:
    text = Screen().text(BOARD, ("Sente", "Gote"))
    assert plain(drawn(BOARD, width=width)) == f"\n{text}\n"


# ---- colours ----


def luminance(color: ColorTriplet) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """Return the contrast ratio of WCAG 2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    black, white, grey = (Color.parse(name).get_truecolor() for name in ("#000000", "#ffffff", "#777777"))
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(grey, white) == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_text_is_readable_on_every_background(background: str) -> None:
    """Text has the terminal's colours, or its own two colours, which are in the cube of 256 colours."""
    board = Board.from_moves(["7g7f", "3c3d", "8h2b+", "3a2b"])
    cells = [cell for one in (board, BOARD) for row in Screen().rows(one, ("", "")) for cell in row]
    styles = {choose_style(cell, coloured=True) for cell in cells}
    assert len(styles) == 6  # frame, side to move, ink of three kinds, last move
    for style in styles:
        if style.color:
            own = style.bgcolor or Color.parse(background)
            assert contrast(style.color.get_truecolor(), own.get_truecolor()) >= READABLE
        assert not style.bgcolor or style.color
        for color in filter(None, (style.color, style.bgcolor)):
            assert set(color.get_truecolor()) <= {0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF}


@pytest.mark.parametrize(
    ("colours", "no_colour", "ink"),
    [
        ("truecolor", False, "38;2;0;0;0;48;2;255;215;135"),
        ("256", False, "38;5;16;48;5;222"),
        ("standard", False, ""),  # a theme may give these colours any contrast
        ("truecolor", True, ""),
        ("256", True, ""),
    ],
)
def test_colours_of_the_terminal(colours: str, no_colour: bool, ink: str) -> None:
    """Without colours the last move is in reverse."""
    text = drawn(Board.from_moves(["7g7f"]), colours, no_colour)
    assert (f"\x1b[{ink}m" in text) if ink else (not COLOURED.search(text) and "\x1b[7m 歩\x1b[0m" in text)


# ---- the program on a terminal ----


class OnTerminal:
    """`usi_engine play` on a pseudo terminal of 80 columns and 24 lines."""

    def __init__(self, *words: str, **environment: str) -> None:
        import pty  # noqa: PLC0415  (not on Windows)

        self.master, slave = pty.openpty()
        names = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "usi_engine", "play", "--eval", "material", "--seconds", "0.05", *words]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=names | environment, start_new_session=True
        )
        os.close(slave)
        self.printed = ""

    def until(self, text: str, answer: str = "") -> None:
        """Wait for text after the last answer; type an answer to it."""
        end = time.monotonic() + 60
        while text not in plain(self.printed):
            assert time.monotonic() < end and self.process.poll() is None, self.printed
            self.printed += os.read(self.master, 4096).decode(errors="replace")
        self.all_printed, self.printed = self.printed, ""
        os.write(self.master, f"{answer}\n".encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def started() -> Iterator[Callable[..., OnTerminal]]:
    """Starts the program on a terminal."""
    running: list[OnTerminal] = []

    def start(*words: str, **environment: str) -> OnTerminal:
        running.append(OnTerminal(*words, **environment))
        return running[-1]

    yield start
    for one in running:
        one.close()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals of Unix")
def test_a_game_on_a_terminal(started: Callable[..., OnTerminal]) -> None:
    """Level, side and handicap are asked for; Enter takes the default."""
    game = started()
    game.until("(full strength) [5]: ", "8")
    game.until("Your side: black, white, random or both (two people) [black]: ")
    game.until("White plays without [none]: ")
    game.until("1. Black> ", "７六歩")
    game.until("3. Black> ", "ｑｕｉｔ")
    assert COLOURED.search(game.all_printed) and "\x1b" not in plain(game.all_printed)
    assert "Komadori level 8" in plain(game.all_printed)
    game.until("To go on: usi_engine play startpos moves 7g7f ")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals of Unix")
def test_nothing_is_asked_that_is_known(started: Callable[..., OnTerminal]) -> None:
    game = started("--level", "3", "--side", "white", "startpos", TERM="dumb", NO_COLOR="1")
    game.until("2. White> ", "q")
    assert "\x1b" not in game.all_printed and "level 3" in game.all_printed
