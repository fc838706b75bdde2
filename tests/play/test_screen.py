"""The board as text."""

from __future__ import annotations

import io
import unicodedata

import pytest

from core_ext.board import Board
from usi_engine.play.screen import Screen, Style, style_of

LABELS = ("Sente", "Gote")
PLAIN = Style(kanji=True, colour=False)
LETTERS = Style(kanji=False, colour=False)


class Terminal(io.TextIOWrapper):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def stream(encoding: str, terminal: bool = True) -> io.TextIOWrapper:
    return (Terminal if terminal else io.TextIOWrapper)(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "terminal", "environment", "style"),
    [
        ("utf-8", True, {"TERM": "xterm"}, Style(True, True)),
        ("cp932", True, {"TERM": "xterm"}, Style(True, True)),
        ("ascii", True, {"TERM": "xterm"}, Style(False, True)),
        ("utf-8", False, {"TERM": "xterm"}, Style(True, False)),
        ("utf-8", True, {"NO_COLOR": "1"}, Style(True, False)),
        ("utf-8", True, {"TERM": "dumb"}, Style(True, False)),
    ],
)
def test_what_the_terminal_can_show(encoding: str, terminal: bool, environment: dict[str, str], style: Style) -> None:
    assert style_of(stream(encoding, terminal), environment, "linux") == style
    # On Windows only if the terminal is known to take ANSI codes.
    assert not style_of(stream("utf-8"), {}, "win32").colour
    assert style_of(stream("utf-8"), {"WT_SESSION": "x"}, "win32").colour


def columns(line: str) -> int:
    """Return the columns of a terminal; kanji and kana take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" or letter == "・" else 1 for letter in line)


@pytest.mark.parametrize("flipped", [False, True])
def test_kanji(flipped: bool) -> None:
    """Every row is as wide as the edge; the files stand above their squares."""
    lines = Screen(PLAIN, flipped).draw(Board.from_moves(["7g7f", "3c3d", "8h2b+"]), LABELS).splitlines()
    assert len(lines) == 14
    widths = [columns(line) for line in lines[2:13]]
    assert widths == [30, *[33] * 9, 30]
    assert columns(lines[1]) == 29
    if flipped:
        assert lines[0] == " ▲ Sente  [角]" and lines[-1] == " △ Gote  [-]"
        assert lines[3] == " | 香 桂 銀 金 玉 金 銀 桂 香|九i"
    else:
        assert lines[0] == " △ Gote  [-]" and lines[-1] == " ▲ Sente  [角]"
        assert lines[4] == " | ・v飛 ・ ・ ・ ・ ・ 馬 ・|二b"


def test_letters() -> None:
    text = Screen(LETTERS).draw(Board.from_moves(["7g7f", "3c3d", "8h2b+", "3a2b"]), LABELS)
    assert text.isascii()
    lines = text.splitlines()
    assert lines[0] == " White: Gote  [B]"
    assert lines[1] == "    9  8  7  6  5  4  3  2  1"
    assert lines[4] == " |  .  r  .  .  .  .  .  s  .|b"


def test_the_last_move_is_marked_in_colour() -> None:
    text = Screen(Style()).draw(Board.from_moves(["7g7f"]), LABELS)
    assert text.count("\x1b[103;") == 1
    assert "\x1b[103;30m 歩\x1b[0m" in text
    assert "\x1b[" not in Screen(PLAIN).draw(Board.from_moves(["7g7f"]), LABELS)


def test_several_pieces_in_hand() -> None:
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b R2P3p 1")
    lines = Screen(PLAIN).draw(board, LABELS).splitlines()
    assert (lines[0], lines[-1]) == (" △ Gote  [歩3]", " ▲ Sente  [飛 歩2]")
