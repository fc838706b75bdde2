"""The board as rows of cells and as text."""

import io

import pytest

from core_ext.board import Board
from usi_engine.columns import cells
from usi_engine.play.screen import Cell, Screen, has_kanji

LABELS = ("Sente", "Gote")
EXCHANGED = Board.from_moves(["7g7f", "3c3d", "8h2b+"])


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
