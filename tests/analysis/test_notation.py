"""Lines of moves as Japanese text."""

from __future__ import annotations

from usi_engine.records.notation import kif_line, named

NO_GAME_START = "4k4/9/9/9/9/9/9/9/4K4 w Gg 1"


def test_kif_of_any_start() -> None:
    """Also of one that KIF draws as a diagram."""
    moves = ["G*5b", "5i5h", "5b5c"]
    assert kif_line(NO_GAME_START, moves) == "△５二金打 ▲５八玉(59) △５三金(52)"
    assert kif_line(NO_GAME_START, moves[1:], moves[:1]) == "▲５八玉(59) △５三金(52)"


def test_names_end_at_an_illegal_move() -> None:
    assert [move.text for move in named(NO_GAME_START, ["G*5b", "5b5c"])] == ["△５二金"]
