"""Conversion of games to training positions: which are kept, with which scores."""

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.corpus import NO_SCORE, RESULT_UNIT, TRAINING_POSITION, GameReader
from core_ext.engine import KppWeights
from tests.learn.helpers import positions_of
from usi_engine.learn.game import START, parse_game_line


def test_only_quiet_positions_are_kept() -> None:
    found = positions_of([parse_game_line("b\tscore\tstartpos\t7g7f 10 3c3d 20 8h2b+ 30 3a2b 40 B*5e 50 1c1d 4000")])
    # Captures and the answer to a check are left out; scores are Black's.
    assert [int(score) for score in found["score"]] == [10, -20, 50, -4000]
    assert [int(side) for side in found["side"]] == [0, 1, 0, 1]
    assert set(found["result"]) == {RESULT_UNIT}


EN_PRISE, CAPTURED = "4k4/9/9/9/4r4/4P4/9/9/4K4 b -", "4k4/9/9/9/4P4/9/9/9/4K4 w R"
TWO_EN_PRISE = "4k4/9/9/9/4p3r/4P3L/9/9/4K4 b -"
DEFENDED = "4k4/9/9/4r4/4p4/9/9/4R4/4K4 b -"


@pytest.mark.parametrize(
    ("sfen", "move", "score", "found"),
    [
        (EN_PRISE, "5f5e", 900, [CAPTURED]),  # the chosen move captures the rook: the leaf
        (EN_PRISE, "5i6h", -40, [EN_PRISE]),  # it does not: the score is not that of the leaf
        (TWO_EN_PRISE, "5f5e", 300, []),  # the leaf is after the capture of the rook
        (DEFENDED, "5h6h", 70, [DEFENDED]),  # a defended pawn is not captured: the position is its own leaf
        (DEFENDED, "5h5e", 70, []),  # a capture from a leaf gives no position
    ],
)
def test_quiescence_leaves(weights: KppWeights, sfen: str, move: str, score: int, found: list[str]) -> None:
    reader, out = GameReader(weights), np.zeros(2, TRAINING_POSITION)
    assert reader.read_game(sfen, [move], [score], 1, 0, out) == len(found)
    assert [int(position["key"]) for position in out[: len(found)]] == [Board(sfen).key for sfen in found]
    assert [int(position["score"]) for position in out[: len(found)]] == [score] * len(found)  # for Black


def test_a_game_stops_when_there_is_no_room(weights: KppWeights) -> None:
    reader, out = GameReader(weights), np.zeros(4, TRAINING_POSITION)
    moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"]
    assert reader.read_game(START, moves, [10] * len(moves), 1, 0, out) == 4


def test_king_squares_are_from_each_perspective() -> None:
    found = positions_of([parse_game_line("w\tscore\tstartpos\t5i6h 1 5a4b 2 6h7h 3")])
    assert [tuple(kings) for kings in found["king"]] == [(44, 44), (52, 44), (52, 80 - 28)]


def test_a_position_without_score_is_left_out_unless_all_are() -> None:
    moves, out = ["7g7f", "3c3d", "2g2f"], np.zeros(8, TRAINING_POSITION)
    assert GameReader().read_game(START, moves, [10, None, 30], 1, 0, out) == 2
    assert list(out["score"][:2]) == [10, 30]
    assert GameReader().read_game(START, moves, [None] * 3, 1, 0, out) == 3
    assert set(out["score"][:3]) == {NO_SCORE}


def test_illegal_moves_are_rejected() -> None:
    with pytest.raises(ValueError, match="7g7e"):
        GameReader().read_game(START, ["7g7e"], [0], 1, 0, np.zeros(4, TRAINING_POSITION))
