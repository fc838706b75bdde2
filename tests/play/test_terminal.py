"""Games on a terminal: drawn in place, colours, running clocks, widths; questions at the start."""

from __future__ import annotations

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
from usi_engine.play.terminal import CLEAR_BELOW, CLEAR_LINE, HOME, RESTORE, SAVE, Terminal, style_of
from usi_engine.play.view import Labels

BOARD = Board("4k4/9/4+P4/9/9/4+p4/9/9/4K4 b 2Rb 1")
# Backgrounds: black, white, Solarized's base03 and base3.
BACKGROUNDS = ["#000000", "#ffffff", "#002b36", "#fdf6e3"]
READABLE = 4.5  # WCAG AA
ESCAPES = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z]|[78])")
COLOURED = re.compile(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")


class Played:
    """A terminal of a size, with what is written to it. `read` answers each prompt."""

    def __init__(
        self,
        read: Callable[[str], str] = lambda prompt: "",
        *,
        width: int = 80,
        height: int = 24,
        colours: str | None = "truecolor",
        no_colour: bool = False,
        labels: Labels = lambda: ("Sente", "Gote"),
    ) -> None:
        Style._add.cache_clear()  # rich keeps the escapes of the first console
        self.output = io.StringIO()
        console = Console(
            file=self.output, force_terminal=True, width=width, height=height, color_system=colours,  # type: ignore[arg-type]
            no_color=no_colour, legacy_windows=False,
        )  # fmt: skip
        self.terminal = Terminal(Screen(), console, ticking=True, read=read)
        self.labels = labels

    def prompt(self, *texts: str, board: Board = BOARD) -> str:
        """Show a board and say these texts; return what is written at the next prompt."""
        self.terminal.show(board, self.labels)
        for text in texts:
            self.terminal.say(text)
        before = len(self.output.getvalue())
        self.terminal.read("> ")
        return self.output.getvalue()[before:]


def plain(text: str) -> str:
    return ESCAPES.sub("", text)


# ---- drawing in place ----


def test_the_board_is_drawn_from_the_first_line_of_the_screen() -> None:
    played = Played()
    first, second = played.prompt("1. ▲７六歩"), played.prompt("2. △３四歩")
    for text in (first, second):
        assert text.startswith(HOME + CLEAR_BELOW) and text.count(HOME) == 1
        assert plain(text).startswith(" △ Gote  [角]\n   ９ ８")
    assert plain(second).endswith(" ▲ Sente  [飛2]\n1. ▲７六歩\n2. △３四歩\n")


def test_what_was_on_the_screen_stays_above() -> None:
    played = Played(height=24)
    played.terminal.show(BOARD, played.labels)
    assert played.output.getvalue() == "\n" * 24


def test_the_latest_messages_are_shown_if_there_is_room_for_some() -> None:
    text = plain(Played(height=20).prompt(*map(str, range(100))))
    assert text.endswith("]\n96\n97\n98\n99\n") and "95" not in text


def test_text_longer_than_the_screen_is_shown_once_without_the_board() -> None:
    played = Played(height=20)
    text = played.prompt("one", "\n".join(map(str, range(10))))
    assert plain(text) == "\n" + "".join(f"{number}\n" for number in range(10))
    assert plain(played.prompt()).endswith("]\none\n")


def test_escapes_in_messages_are_shown() -> None:
    assert plain(Played().prompt("saved as \x1b[2J.kif\nnext")).endswith("]\nsaved as \\x1b[2J.kif\nnext\n")


def test_messages_wrap_at_the_width() -> None:
    text = plain(Played(width=40).prompt("歩" * 30, "one two three four five six seven eight nine ten"))
    lines = text.splitlines()[-4:]
    assert lines == ["歩" * 19, "歩" * 11, "one two three four five six seven eight", "nine ten"]


def test_hands_are_cut_at_the_width() -> None:
    lines = plain(Played(width=34, labels=lambda: ("Sente", "G" * 40)).prompt()).splitlines()
    assert lines[0] == " △ " + "G" * 30 and lines[13] == " ▲ Sente  [飛2]"


@pytest.mark.parametrize(("width", "height"), [(33, 24), (80, 16)])
def test_a_screen_that_is_too_small_scrolls(width: int, height: int) -> None:
    text = Played(width=width, height=height).prompt("one", "two")
    assert HOME not in text and plain(text).startswith("\n △ Gote") and plain(text).endswith("]\ntwo\n")


def test_the_person_is_told_to_wait() -> None:
    played = Played()
    played.terminal.show(BOARD, played.labels)
    with played.terminal.waiting("Komadori is thinking ..."):
        assert plain(played.output.getvalue()).endswith("]\nKomadori is thinking ...")


def test_messages_before_the_first_board_are_shown_at_once() -> None:
    """And again below the board, whose first drawing moves them off the screen."""
    played = Played()
    played.terminal.say("no such network")
    assert played.output.getvalue() == "no such network\n"
    assert plain(played.prompt()).endswith("]\nno such network\n")


# ---- clocks ----


def test_clocks_run_while_the_person_thinks() -> None:
    """The row of a clock is rewritten, and nothing else; the cursor goes back to the line that is edited."""
    shown = ["9:59"]

    def read(prompt: str) -> str:
        shown[0] = "9:58"
        end = time.monotonic() + 20
        while RESTORE not in played.output.getvalue():
            assert time.monotonic() < end
            time.sleep(0.01)
        return ""

    played = Played(read, labels=lambda: (f"Sente {shown[0]}", "Gote"))
    text = played.prompt()
    assert text.count(SAVE) == text.count(RESTORE) == 1
    tick = text.partition(SAVE)[2]
    assert tick.startswith("\x1b[14;1H") and tick.endswith(CLEAR_LINE + RESTORE)
    assert plain(tick) == " ▲ Sente 9:58  [飛2]"


@pytest.mark.parametrize("height", [16, 24])
def test_clocks_do_not_run_over_other_text(height: int) -> None:
    """Neither on a screen that scrolls, nor below a long text."""
    seconds = iter(range(1000))

    def read(prompt: str) -> str:
        time.sleep(0.3)
        return ""

    played = Played(read, height=height, labels=lambda: (f"Sente {next(seconds)}", "Gote"))
    assert SAVE not in played.prompt("line\n" * 30)


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
    styles = {style_of(cell, coloured=True) for cell in cells}
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
    text = Played(colours=colours, no_colour=no_colour).prompt(board=Board.from_moves(["7g7f"]))
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
    assert HOME in game.all_printed and COLOURED.search(game.all_printed)
    assert "Komadori level 8" in plain(game.all_printed)
    game.until("To go on: usi_engine play startpos moves 7g7f ")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals of Unix")
def test_nothing_is_asked_that_is_known(started: Callable[..., OnTerminal]) -> None:
    game = started("--level", "3", "--side", "white", "startpos", TERM="dumb", NO_COLOR="1")
    game.until("2. White> ", "q")
    assert "\x1b" not in game.all_printed and "level 3" in game.all_printed
