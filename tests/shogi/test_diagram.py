"""The board as SVG; its text is tested with the board's."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from core_ext.board import Board
from tests.positions import MATSURI

SVG = "{http://www.w3.org/2000/svg}"
MARKED = 'fill="#f0b25a"'


def texts(board: Board) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(board.svg()).iter(f"{SVG}text"))


def pieces(board: Board) -> list[ElementTree.Element]:
    return [text for text in texts(board) if text.get("font-size") == "30"]


def test_every_piece_is_drawn() -> None:
    board = Board(MATSURI)
    assert len(pieces(board)) == len(board.piece_map())
    rotated = [text for text in pieces(board) if "rotate" in text.get("transform", "")]
    assert len(rotated) == sum(letters.islower() for letters in board.piece_map().values())
    assert [text.text for text in pieces(board) if text.get("class") == "promoted" and text.text] == ["と"]


def test_hands_are_drawn() -> None:
    shown = {text.text for text in texts(Board("4k4/9/9/9/9/9/9/9/4K4 b R12P2g 1"))}
    assert {"☗", "飛", "歩12", "☖", "金2"} <= shown


def test_the_last_move_is_marked(board: Board) -> None:
    assert board.svg() == board._repr_svg_()
    dropped = Board.from_moves(["P*5e"], "4k4/9/9/9/9/9/9/9/4K4 b P 1")
    moved = Board.from_moves(["7g7f"])
    assert [one.svg().count(MARKED) for one in (board, dropped, moved)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("sfen", "place"),
    [
        ("9/9/9/9/4K4/9/9/9/9 b - 1", ("230", "206")),  # 5e, the middle of the board
        ("K8/9/9/9/9/9/9/9/9 b - 1", ("70", "46")),
        ("9/9/9/9/9/9/9/9/8K b - 1", ("390", "366")),
    ],
)
def test_a_piece_stands_on_its_square(sfen: str, place: tuple[str, str]) -> None:
    assert [(text.get("x"), text.get("y")) for text in pieces(Board(sfen))] == [place]
