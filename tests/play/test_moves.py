"""Moves as people type them."""

import pytest

from core_ext.board import Board
from usi_engine.play.moves import read_move
from usi_engine.rules import MoveError

EXCHANGED = Board.from_moves(["7g7f", "3c3d", "8h2b+"])
BISHOPS = Board.from_moves(["7g7f", "3c3d", "8h2b+", "3a2b"])


@pytest.mark.parametrize(
    "text",
    ["3a2b", "3A2B", "3122", "3122GI", "-3122GI", "-3122gi", "２二銀", "2二銀", "22銀", "△２二銀", "２二銀(31)",
     "▽２二銀", "同銀", "△同　銀", "同　銀(31)", "２二銀直", "Sx2b"],
)  # fmt: skip
def test_one_move_in_every_notation(text: str) -> None:
    assert read_move(text, EXCHANGED) == "3a2b"


@pytest.mark.parametrize("text", ["B*5e", "b*5e", "B*5E", "+0055KA", "0055KA", "５五角", "５五角打", "55角", "▲５五角"])
def test_drops(text: str) -> None:
    assert read_move(text, BISHOPS) == "B*5e"


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("8h2b+", "8h2b+"), ("8822+", "8h2b+"), ("+8822UM", "8h2b+"), ("２二角成", "8h2b+"), ("22角成", "8h2b+"),
        ("8h2b", "8h2b"), ("Bx2b=", "8h2b"), ("P-2f", "2g2f"), ("G4i-5h", "4i5h"), ("２二角成り", "8h2b+"),
        ("22角なり", "8h2b+"), ("２二角ならず", "8h2b"), ("8822KA", "8h2b"), ("２二角不成", "8h2b"),
        ("5八金右", "4i5h"), ("５八金左", "6i5h"),
        ("５八金(49)", "4i5h"), ("７８金", "6i7h"),
    ],
)  # fmt: skip
def test_promotion_and_pieces_told_apart(text: str, move: str) -> None:
    assert read_move(text, Board.from_moves(["7g7f", "3c3d"])) == move


def test_a_promoted_piece_moves_on_in_csa() -> None:
    """Its name is not a promotion."""
    board = Board.from_moves(["7g7f", "3c3d", "8h2b+", "5a6b"])
    assert read_move("2231UM", board) == "2b3a"


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
