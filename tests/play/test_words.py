"""Words of the dialogue, moves as people type them, the board as text."""

import io
from collections.abc import Iterator

import pytest

from core_ext.board import Board
from tests.positions import described_rows
from usi_engine.columns import cells
from usi_engine.play import words
from usi_engine.play.moves import read_move
from usi_engine.play.screen import Cell, Screen, has_kanji
from usi_engine.rules import MoveError


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


class Dialogue:
    """Scripted answers, and what was said."""

    def __init__(self, answers: str) -> None:
        self._answers: Iterator[str] = iter(answers.split("/"))
        self.said: list[str] = []

    def read(self, prompt: str) -> str:
        self.said.append(prompt)
        return next(self._answers)

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.parametrize(("answers", "level"), [("", 5), ("0", 0), ("２０", 20), ("21/-1/x/12", 12), ("1", 1)])
def test_level(answers: str, level: int) -> None:
    dialogue = Dialogue(answers)
    assert words.ask_level(dialogue.read, dialogue.say, 5) == level
    assert dialogue.said.count("'21' is not an answer; numbers from 0 to 20 are") == ("21" in answers)


@pytest.mark.parametrize(
    ("answers", "side", "said"),
    [
        ("", "black", ""), ("w", "white", ""), ("B", "black", ""), ("bo", "both", ""), ("後手", "white", ""),
        ("振り駒", "random", ""), ("wihte/white", "white", "'wihte' is not an answer; did you mean white?"),
        ("q/black", "black", "'q' is not an answer; Enter takes the answer in brackets"),
    ],
)  # fmt: skip
def test_side(answers: str, side: str, said: str) -> None:
    dialogue = Dialogue(answers)
    assert words.ask_side(dialogue.read, dialogue.say) == side
    assert not said or said in dialogue.said


@pytest.mark.parametrize(
    ("answers", "handicap"),
    [("", "none"), ("two", "two"), ("２枚落ち", "two"), ("二枚", "two"), ("平手", "none"), ("rook", "rook"),
     ("飛香", "rook-lance"), ("2/ten", "ten")],
)  # fmt: skip
def test_handicap(answers: str, handicap: str) -> None:
    dialogue = Dialogue(answers)
    assert words.ask_handicap(dialogue.read, dialogue.say) == handicap


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
