"""Explanations: mates missed and allowed, material lost; a better line only if there is one."""

import pytest

from tests.analysis.common import judged, mating
from tests.positions import MATE_IN_ONE
from tests.records.common import valued
from usi_engine.analysis.explain import balance, captures, explanations, pieces
from usi_engine.core import load_core


def test_a_better_line_needs_a_loss() -> None:
    """The search preferred another move with +2075; the move played mates in 14: nothing was better."""
    game = judged("7g7f", valued(2075, "2g2f"), mating(-13, "3c3d"))
    assert (game.judged[0].best, game.judged[0].loss, game.better_line(1), explanations(game, 1)) == (False, 0, [], [])
    noise = judged("7g7f", valued(30, "2g2f"), valued(-20, "3c3d"))
    assert noise.judged[0].loss == 0.4
    assert noise.better_line(1) == []
    mistake = judged("7g7f", valued(30, "2g2f"), valued(300, "3c3d"))
    assert [move.usi for move in mistake.better_line(1)] == ["2g2f"]


def test_mates_missed_and_allowed() -> None:
    start = f"sfen {MATE_IN_ONE} moves "
    missed = judged(f"{start}5c5b+", mating(1, "G*5b"), valued(700, "5a5b"))
    assert explanations(missed, 1) == ["Missed mate in 1."]
    small = judged(f"{start}5c5b+", mating(3, "G*5b"), valued(-4000, "5a5b"))
    assert (small.judged[0].grade, small.judged[0].loss) == (None, 0.1)
    assert explanations(small, 1) == ["Missed mate in 3."]
    assert [move.usi for move in small.better_line(1)] == ["G*5b"]
    slower = judged(f"{start}5c5b+", mating(1, "G*5b"), mating(-4, "5a5b"))
    assert explanations(slower, 1) == []
    sudden = judged("7g7f", valued(200, "2g2f"), mating(5, "3c3d"))
    assert explanations(sudden, 1) == ["Walked into mate in 5."]
    lost = judged("7g7f", valued(-900, "2g2f"), mating(5, "3c3d"))
    assert explanations(lost, 1) == ["Allows mate in 5."]
    both = judged(f"{start}5c5b+", mating(1, "G*5b"), mating(7, "5a5b"))
    assert explanations(both, 1) == ["Missed mate in 1.", "Walked into mate in 7."]
    assert explanations(judged("7g7f", mating(-5, "2g2f"), mating(5, "3c3d")), 1) == []


@pytest.mark.parametrize("text, better, answer, expected", [
    ("sfen 4k4/9/9/4s4/4p4/9/9/9/4R3K b - 1 moves 5i5e", "5i5h", "5d5e", ["Loses rook for pawn."]),
    ("sfen 4k4/9/9/9/9/2b6/9/9/5R2K b - 1 moves 4i4h", "4i5i", "7f6g", []),
    ("sfen 4k4/9/9/9/9/3b5/9/9/3R4K b - 1 moves 6i3i", "6i6f", "6f3i+", ["Loses rook."]),
    ("sfen 4k4/9/9/9/9/3b5/9/9/3R4K b - 1 moves 6i6h", "6i6f", "6f7g", ["Misses winning bishop."]),
])  # fmt: skip
def test_material(text: str, better: str, answer: str, expected: list[str]) -> None:
    game = judged(text, valued(500, better), valued(500, answer))
    assert explanations(game, 1) == expected


def test_an_unfinished_exchange_is_not_counted() -> None:
    board = load_core().board("4k4/9/4p4/4s4/4p4/9/9/9/4R3K b - 1")
    assert balance(captures(board, ["5i5e", "5d5e"])) == -9
    guarded = load_core().board("4k4/9/4p4/4s4/4p4/3B5/9/9/4R3K b - 1")
    assert balance(captures(guarded, ["5i5e", "5d5e"])) == 1  # the bishop takes back
    assert balance(captures(guarded, ["5i5e", "5d5e", "6f5e"])) == -4
    (won, lost) = captures(board, ["5i5e", "5d5e"])
    assert (pieces(won), pieces(lost + lost)) == ("pawn", "2 x rook")
