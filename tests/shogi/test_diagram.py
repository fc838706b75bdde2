"""The board as SVG; its text is tested with the board's."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from core_ext.board import Board
from tests.positions import MATSURI

SVG = "{http://www.w3.org/2000/svg}"


def texts(board: Board) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(board.svg()).iter(f"{SVG}text"))


def test_every_piece_is_drawn() -> None:
    board = Board(MATSURI)
    pieces = [text for text in texts(board) if text.get("font-size") == "30"]
    assert len(pieces) == len(board.piece_map())
    turned = [text for text in pieces if "rotate" in text.get("transform", "")]
    assert len(turned) == sum(letters.islower() for letters in board.piece_map().values())
    promoted = [text.text for text in pieces if text.get("class") == "promoted"]
    assert sorted(filter(None, promoted)) == ["と"]


def test_hands_are_drawn() -> None:
    shown = {text.text for text in texts(Board("4k4/9/9/9/9/9/9/9/4K4 b R12P2g 1"))}
    assert {"☗", "飛", "歩12", "☖", "金2"} <= shown


def test_the_last_move_is_marked(board: Board) -> None:
    marked = re.compile('fill="#f0b25a"')
    assert len(marked.findall(board.svg())) == 0
    board.push("7g7f")
    assert len(marked.findall(board.svg())) == 2
    dropped = Board.from_moves(["P*5e"], "4k4/9/9/9/9/9/9/9/4K4 b P 1")
    assert len(marked.findall(dropped.svg())) == 1


def test_jupyter_shows_it(board: Board) -> None:
    assert board._repr_svg_() == board.svg()


def test_a_piece_stands_on_its_square() -> None:
    """5e is the middle of the board."""
    for square, place in (("5e", ("230", "206")), ("9a", ("70", "46")), ("1i", ("390", "366"))):
        assert middles(square) == [place]


def middles(square: str) -> list[tuple[str | None, str | None]]:
    """Middles of the pieces on a board with one king."""
    empty = "987654321".index(square[0])
    row = f"{empty or ''}K{8 - empty or ''}"
    rows = ["9"] * 9
    rows["abcdefghi".index(square[1])] = row
    board = Board("/".join(rows) + " b - 1")
    return [(text.get("x"), text.get("y")) for text in texts(board) if text.get("font-size") == "30"]
