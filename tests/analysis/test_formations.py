"""Castles and openings: games of one side that make them, and the other side's as in a mirror; the file of squares."""

from collections import Counter

import pytest

from core_ext.shogi.notation import FLIPPED, RANKS
from tests.analysis.common import japanese, with_values
from tests.records.common import valued
from usi_engine.analysis.formations import (
    Formation,
    find_formation,
    formation_headers,
    formations,
    name_formations,
)
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.page import page_data
from usi_engine.analysis.terminal import format_lines
from usi_engine.core import load_core
from usi_engine.records.games import Game
from usi_engine.records.position import FULL_SET

# Black's moves, between which White passes, and the names in their order.
CASTLES = [
    ("2h6h 5i4h 4h3h 3h2h 3i3h 6i5h 4g4f 5h4g", "片美濃囲い 美濃囲い 高美濃囲い"),
    ("2h6h 5i4h 4h3h 3h2h 3i3h 6i5h 4g4f 3h4g", "片美濃囲い 美濃囲い"),
    ("2h6h 5i4h 4h3h 3h2h 3i3h 4g4f 3h4g 4i3h", "片美濃囲い 木村美濃"),
    ("1i1h 2h6h 5i4h 4h3h 3h2h 2h1i 3i2h", "振り飛車穴熊"),
    ("9i9h 7g7f 8h5e 5i6h 6h7h 7h8h 8h9i 7i8h", "居飛車穴熊"),
    ("7g7f 7i6h 6h7g 6i7h 6g6f 4i5h 5h6g 8h7i 5i6i 7i6h 6i7i 7i8h 3i4h 5g5f 4h5g", "金矢倉 総矢倉"),
    ("5i6h 6h7h 4i5h 7i6h 6i7i", "船囲い エルモ囲い"),
    ("7g7f 7i7h 8h5e 5i6h 6h7i 7i8h 4i5h 6g6f 5h6g", "左美濃 左高美濃"),
    ("7g7f 8h5e 7i7h 8g8f 5i6h 6h7g 7g8g", "天守閣美濃"),
    ("3i4h 7i6h 6i7h 4i5h 5i6i", "カニ囲い"),
    ("6i7h 4i3h 5i5h", "中住まい"),
    ("7g7f 8h7g 2h8h 3i2h 5i4h 4h3h 6i5h 4i4h", "金無双"),
    ("7g7f 8h7g 2h8h 2g2f 3i3h 5i4h 4h3i 3i2h 3h2g 4i3h", "片美濃囲い 銀冠"),
]
GAMES = [
    ("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b 2e2d 2c2d 2h2d 8e8f 8g8f 8b8f 2d3d", "横歩取り"),
    ("2g2f 8c8d 2f2e 8d8e 6i7h 4a3b", "相掛かり"),
    ("7g7f 8c8d 2g2f 4a3b 2f2e 8d8e 8h7g 3c3d 7i6h 2b7g+ 6h7g 3a2b 3i3h 2b3c", "角換わり"),
    ("7g7f 8c8d 7i6h 3c3d 6h7g", "矢倉"),
    ("7g7f 8c8d 6g6f 3c3d 7i6h 6c6d 6h6g 7a6b 6i7h", "雁木"),
    ("7g7f 3c3d 2g2f 5c5d 2f2e 8b5b", "ゴキゲン中飛車"),
    ("7g7f 3c3d 2g2f 5c5d 2f2e 8b5b 8h2b+ 3a2b 7i8h", "丸山ワクチン"),
    ("7g7f 3c3d 7f7e 8c8d 2h7h", "早石田"),
    ("7g7f 3c3d 6g6f 3d3e 2h6h 8b3b", "相振り飛車"),
    ("7g7f 8c8d 8i7g 3c3d 7f7e 4a3b 7g6e", "鬼殺し"),
    ("7g7f 3c3d 8h2b+ 3a2b B*4e", "筋違い角"),
    ("7i6h 3c3d 8h7i", "嬉野流"),
    ("2g2f 3c3d 2f2e 2b3c 3i3h 8b4b 3h2g 7a6b 2g2f", "四間飛車"),
    ("2g2f 8c8d 2f2e 4a3b 3i3h 7a6b 3h2g 8d8e 2g2f", "棒銀"),
    ("7g7f 3c3d 4g4f 8c8d 3i4h 8d8e 8h7g 4a3b 4h4g 7a6b 4g5f 6a5b 2h4h", "右四間飛車"),
]


@pytest.mark.parametrize("moves, names", CASTLES)
@pytest.mark.parametrize("side", (0, 1))
def test_castles_of_both_sides(side: int, moves: str, names: str) -> None:
    own = [move.translate(FLIPPED) if side else move for move in moves.split()]
    game = Game.from_moves([one for move in own for one in (("pass", move) if side else (move, "pass"))])
    found = [one for formed in name_formations(game).values() for one in formed if one.kind == "castle"]
    assert " ".join(one.japanese for one in found) == names


@pytest.mark.parametrize("moves, name", GAMES)
def test_openings(moves: str, name: str) -> None:
    game = Game.from_moves(moves.split())
    with japanese():
        assert formation_headers(game, name_formations(game))["戦型"] == name


def test_every_formation_is_found_on_its_squares() -> None:
    """Set up alone, each is found as itself or one that needs no more; a set has its pieces."""
    assert Counter(one.kind for one in {one.japanese: one for one in formations()}.values())["castle"] >= 30
    assert sum(one.kind == "opening" for one in formations()) >= 25
    for one in formations():
        board = load_core().board(sfen_of(one))
        for side in (0, 1):
            found = find_formation(board if side == 0 else load_core().board(turned(board.sfen())), side, one.kind)
            assert found
            assert found.japanese == one.japanese
        letters = Counter(next(iter(piece))[0] for piece in one.pieces)
        assert all(letters[letter] <= count for letter, count in FULL_SET.items())
        assert one.kind == "opening" or letters["K"] == 1


def sfen_of(formation: Formation) -> str:
    """The position with a formation's pieces, each on its first square."""
    firsts = [sorted(piece)[0] for piece in formation.pieces]
    placed = {"2a": "k", "5i": "" if any(one[0] == "K" for one in firsts) else "K"}
    placed |= {} if any(one[1] == "2" for one in firsts if one[0] in "P.") else {"2g": "P"}
    placed |= {one[1:]: one[0] for one in firsts if one[1:] != "*" and one[0] != "."}
    ranks = ["".join(placed.get(f"{file}{rank}") or "1" for file in range(9, 0, -1)) for rank in RANKS]
    held = "".join(one[0] for one in firsts if one[1:] == "*")
    return f"{'/'.join(ranks)} b {held or '-'} 1"


def turned(sfen: str) -> str:
    """The position seen from the other side."""
    board, _, hands, ply = sfen.split()
    return f"{board[::-1].swapcase()} w {hands.swapcase()} {ply}"


def test_where_formations_are_shown() -> None:
    game = with_values(Game.from_moves(["7g7f", "3c3d", "2g2f", "5c5d", "2f2e", "8b5b"]), [valued(0)] * 7)
    lines = [text.strip() for text, _style, _word in format_lines(game)]
    assert "Opening: Cheerful central rook" in lines
    assert lines[-10].split(maxsplit=1) == ["Opening", "Cheerful central rook"]
    assert "戦型：ゴキゲン中飛車\n" in kif_text(game)
    data = page_data(game, "")
    assert ["Opening", "Cheerful central rook"] in [list(one) for one in data["headers"]]
    assert data["nodes"][6]["why"] == ["Opening: Cheerful central rook"]
    game.header["戦型"] = "力戦"
    assert "戦型：力戦\n" in kif_text(game)
