"""Games on a terminal: colours, questions at the start, words of the dialogue, typed moves, the board as text."""

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing

import pytest
from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.style import Style

from core_ext.board import Board
from tests.positions import described_rows
from tests.programs import ROOT
from usi_engine.columns import cells
from usi_engine.play import words
from usi_engine.play.moves import read_move
from usi_engine.play.screen import Cell, Screen, has_kanji
from usi_engine.play.terminal import Terminal, choose_style
from usi_engine.rules import MoveError

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


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals of Unix")
def test_a_game_on_a_terminal() -> None:
    """Level, side and handicap are asked for; Enter takes the default."""
    with closing(OnTerminal()) as game:
        game.until("(full strength) [5]: ", "8")
        game.until("Your side: black, white, random or both (two people) [black]: ")
        game.until("White plays without [none]: ")
        game.until("1. Black> ", "７六歩")
        game.until("3. Black> ", "ｑｕｉｔ")
        assert COLOURED.search(game.all_printed) and "\x1b" not in plain(game.all_printed)
        assert "Komadori level 8" in plain(game.all_printed)
        game.until("To go on: usi_engine play startpos moves 7g7f ")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals of Unix")
def test_nothing_is_asked_that_is_known() -> None:
    words = "--level", "3", "--side", "white", "startpos"
    with closing(OnTerminal(*words, TERM="dumb", NO_COLOR="1")) as game:
        game.until("2. White> ", "q")
        assert "\x1b" not in game.all_printed and "level 3" in game.all_printed


# ---- words, moves as people type them, the board as text ----


@pytest.mark.parametrize(("line", "command", "rest"), described_rows("dialogue_words.jsonl"))
def test_commands(line: str, command: str, rest: str) -> None:
    assert words.split_command(line) == (command, rest)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("reisgn", "resign"), ("quti", "quit"), ("hnit", "hint"), ("MOVSE", "moves"), ("ｕｎｏｄ", "undo"),
        ("投料", "投了"),
        ("ヒンと", "ヒント"), ("xyzzy", ""), ("b7", ""), ("棋力表", "棋力"), ("7g7", ""),
    ],
)  # fmt: skip
def test_suggestions(word: str, meant: str) -> None:
    assert words.nearest(word) == meant


def test_words_are_unique_and_as_they_are_compared() -> None:
    assert len(words.NAMES) == sum(len(others) + 1 for others in words.COMMANDS.values())
    assert [word for word in words.NAMES if words.plain(word) != word] == []


def test_the_list_of_commands_fits_80_columns() -> None:
    assert max(map(cells, words.help_text().splitlines())) < 80


@pytest.mark.parametrize(
    ("ask", "answers", "wanted", "said"),
    [
        *((words.ask_level, answers, level, "") for answers, level in
          (("", 5), ("0", 0), ("２０", 20), ("1", 1))),
        (words.ask_level, "21/-1/x/12", 12, "'21' is not an answer; numbers from 0 to 20 are"),
        *((words.ask_side, answers, side, "") for answers, side in
          (("", "black"), ("w", "white"), ("B", "black"), ("bo", "both"), ("後手", "white"), ("振り駒", "random"))),
        (words.ask_side, "wihte/white", "white", "'wihte' is not an answer; did you mean white?"),
        (words.ask_side, "q/black", "black", "'q' is not an answer; Enter takes the answer in brackets"),
        *((words.ask_handicap, answers, handicap, "") for answers, handicap in
          (("", "none"), ("two", "two"), ("２枚落ち", "two"), ("二枚", "two"), ("平手", "none"), ("rook", "rook"),
           ("飛香", "rook-lance"), ("2/ten", "ten"))),
    ],
)  # fmt: skip
def test_questions(ask: Callable[..., object], answers: str, wanted: object, said: str) -> None:
    typed, told = iter(answers.split("/")), list[str]()
    usual = (5,) if ask is words.ask_level else ()
    assert ask(lambda prompt: next(typed), told.append, *usual) == wanted
    assert not said or said in told


EXCHANGED = Board.from_moves(["7g7f", "3c3d", "8h2b+"])
BISHOPS = Board.from_moves(["7g7f", "3c3d", "8h2b+", "3a2b"])


@pytest.mark.parametrize(("moves", "text", "move"), described_rows("typed_moves.jsonl"))
def test_moves_in_every_notation(moves: str, text: str, move: str) -> None:
    assert read_move(text, Board.from_moves(moves.split())) == move


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2b2c", "the piece on 2b is not yours"), ("5e5d", "there is no piece on 5e"), ("５八金", "could be"),
        ("2g2e", "the piece cannot move there"), ("P*5e", "you have no such piece in hand"),
        ("B*2g", "2g is occupied"), ("５五飛", "not legal here"), ("7776KI", "not legal here"),
        ("-7776FU", "not legal here"), *((text, "neither a command nor a move") for text in ("xyzzy", "同")),
    ],
)  # fmt: skip
def test_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(MoveError, match=reason) as error:
        read_move(text, BISHOPS)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("sfen", "move", "reason"),
    [
        ("4k4/9/9/9/9/9/4P4/9/4K4 b P 1", "P*5e", "two pawns on a file"),
        ("4k4/9/9/9/9/9/9/4r4/4K4 b P 1", "P*1e", "your king would be in check"),
        ("4k4/9/9/9/9/9/9/4r4/4K4 b P 1", "5i5g", "your king would be in check"),
        ("4k4/9/9/9/9/9/9/9/4K4 b P 1", "P*1a", "this drop is not allowed"),
    ],
)
def test_why_it_is_illegal(sfen: str, move: str, reason: str) -> None:
    with pytest.raises(MoveError, match=reason):
        read_move(move, Board(sfen))


LABELS = ("Sente", "Gote")


@pytest.mark.parametrize(("encoding", "kanji"), [("utf-8", True), ("cp932", True), ("ascii", False), ("cp1252", False)])
def test_kanji_if_the_encoding_has_them(encoding: str, kanji: bool) -> None:
    assert has_kanji(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) == kanji


@pytest.mark.parametrize("flipped", [False, True])
def test_kanji(flipped: bool) -> None:
    """Every row is as wide as the edge; the files stand above their squares."""
    lines = Screen(flipped=flipped).text(EXCHANGED, LABELS).splitlines()
    assert len(lines) == 14
    widths = [cells(line) for line in lines[2:13]]
    assert widths == [30, *[33] * 9, 30]
    assert cells(lines[1]) == 29
    if flipped:
        assert lines[0] == " ▲ Sente  [角]" and lines[-1] == " △ Gote  [-]"
        assert lines[3] == " | 香 桂 銀 金 玉 金 銀 桂 香|九i"
    else:
        assert lines[0] == " △ Gote  [-]" and lines[-1] == " ▲ Sente  [角]"
        assert lines[4] == " | ・v飛 ・ ・ ・ ・ ・ 馬 ・|二b"


def test_letters() -> None:
    text = Screen(kanji=False).text(Board.from_moves(["7g7f", "3c3d", "8h2b+", "3a2b"]), LABELS)
    assert text.isascii()
    lines = text.splitlines()
    assert lines[0] == " White: Gote  [B]"
    assert lines[1] == "    9  8  7  6  5  4  3  2  1"
    assert lines[4] == " |  .  r  .  .  .  .  .  s  .|b"


def test_the_last_move_and_the_side_to_move_are_marked() -> None:
    rows = Screen().rows(EXCHANGED, LABELS)
    assert [cell for row in rows for cell in row if cell.last] == [Cell(" 馬", "promoted", True)]
    assert [number for number, row in enumerate(rows) if row[0].ink == "turn"] == [0]
    assert not any(cell.last for row in Screen().rows(Board(), LABELS) for cell in row)


def test_several_pieces_in_hand() -> None:
    board = Board("4k4/9/9/9/9/9/9/9/4K4 b R2P3p 1")
    lines = Screen().text(board, LABELS).splitlines()
    assert (lines[0], lines[-1]) == (" △ Gote  [歩3]", " ▲ Sente  [飛 歩2]")
