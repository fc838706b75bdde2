"""The static value: incremental against full sums, full sums against the formula, symmetry; numbers of pieces."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from core_ext._probe import bonapiece_tables, bonapieces, walk_evaluator
from core_ext.board import Board
from core_ext.engine import HALF_SQUARES, PAIRS, KppWeights, Worker
from tests.conftest import NewWorker
from tests.eval.nnue.reference import mirrored as mirrored_square
from tests.eval.nnue.reference import numbers_of
from tests.positions import ENTERED, MATSURI, TWO_PIECE_HANDICAP, VALUES, flipped, mirrored, random_boards
from tests.shogi.slow_shogi import START, Position
from usi_engine.evaluation.kpp_file import read_folded
from usi_engine.evaluation.names import KPP

# From the opening to both kings entered, and a handicap with pieces missing.
STARTS = [START, MATSURI, ENTERED, TWO_PIECE_HANDICAP]


def value(engine: Worker, sfen: str) -> int:
    return dict(engine.evaluate(Board(sfen)))["total"]


def check_counts(found: Mapping[str, int], count: int) -> None:
    """Check that a walk of `count` positions met every kind of move and no wrong sum."""
    assert (found["evaluated"], found["wrong"]) == (count, 0)
    assert min(found[kind] for kind in ("kings", "captures", "promotions", "drops", "nulls", "undone")) > 0


@pytest.mark.parametrize("count", [20_000, pytest.param(250_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sfen", STARTS)
def test_incremental_sums_equal_full_sums(weights: KppWeights, sfen: str, count: int) -> None:
    check_counts(walk_evaluator(weights, sfen, count, count), count)


def pair(one: int, other: int) -> int:
    """The index of a pair of pieces in a triangle."""
    return max(one, other) * (max(one, other) + 1) // 2 + min(one, other)


class Formula:
    """The value by the formula, from the folded arrays of the file."""

    def __init__(self) -> None:
        folded = read_folded(KPP)
        self.inverse, self.mirror = bonapiece_tables()
        self.kp, self.pp = folded.kp.astype(int), folded.pp.astype(int)
        self.kkp, self.kkp_step = folded.kkp, folded.kkp_step
        self.kpp, self.kpp_step = folded.kpp.reshape(HALF_SQUARES, PAIRS), folded.kpp_step
        self.right_to_move = folded.tempo
        self.kp_tempo, self.pp_tempo = folded.kp_tempo.astype(int), folded.tempo_step * folded.pp_tempo.astype(int)

    def perspective(self, king: int, other: int, seen: list[int]) -> int:
        """The sum from one king's perspective, in 1/32 centipawn."""
        if king // 9 > 4:
            king, other, seen = mirrored_square(king), mirrored_square(other), [self.mirror[number] for number in seen]
        symmetric = [(seen, other)]
        if king // 9 == 4:
            symmetric.append(([self.mirror[number] for number in seen], mirrored_square(other)))
        total = 0
        for i in range(len(seen)):
            total += self.kp[king * 1548 + min(numbers[i] for numbers, _ in symmetric)]
            place = min(far * 1548 + numbers[i] for numbers, far in symmetric)
            total += self.kkp_step * int(self.kkp[king * 81 * 1548 + place])
            for j in range(i):
                place = min(pair(numbers[i], numbers[j]) for numbers, _ in symmetric)
                total += self.pp[place] + self.kpp_step * int(self.kpp[king, place])
        return total

    def kings_and_pieces(self, sfen: str) -> tuple[int, int, list[int], list[int]]:
        board = Board(sfen)
        names = [board.king_square(color) or "" for color in (0, 1)]
        black, white = (9 * (int(name[0]) - 1) + "abcdefghi".index(name[1]) for name in names)
        return black, white, *bonapieces(sfen)

    def terms(self, sfen: str) -> int:
        """KP + KKP + PP + KPP for Black, without the pieces' own values."""
        black, white, mine, theirs = self.kings_and_pieces(sfen)
        return self.perspective(black, white, mine) - self.perspective(80 - white, 80 - black, theirs)

    def tempo(self, sfen: str) -> int:
        """Tempo + KP + PP for the side to move."""
        black, white, mine, theirs = self.kings_and_pieces(sfen)
        total = self.right_to_move
        for king, seen in ((black, mine), (80 - white, theirs)):
            symmetric = [(king, seen), (mirrored_square(king), [self.mirror[number] for number in seen])]
            nearest = min(square for square, _ in symmetric)
            for i in range(len(seen)):
                total += self.kp_tempo[min(square * 1548 + n[i] for square, n in symmetric if square == nearest)]
        symmetries = [seen for one in (mine, theirs) for seen in (one, [self.mirror[number] for number in one])]
        for i in range(len(mine)):
            for j in range(i):
                total += self.pp_tempo[min(pair(n[i], n[j]) for n in symmetries)]
        return total


def test_full_sums_equal_the_formula(weights: KppWeights, new_worker: NewWorker) -> None:
    formula, engine = Formula(), new_worker(weights)
    for sfen in [*STARTS, *[board.sfen() for board in random_boards(5, 120)][::6]]:
        terms = dict(engine.evaluate(Board(sfen)))
        value_in_play = sum(terms[name] for name in ("KKP", "KPP of Black's king", "KPP of White's king"))
        sign = 1 if Board(sfen).turn == 0 else -1
        # Three terms, each truncated to whole centipawns.
        assert abs(value_in_play - sign * formula.terms(sfen) / 32) <= 3, sfen
        assert abs(terms["tempo"] - formula.tempo(sfen) / 32) <= 1, sfen


def test_flipped_and_mirrored_positions_have_the_same_value(weights: KppWeights, new_worker: NewWorker) -> None:
    engine = new_worker(weights)
    for board in random_boards(11, 300):
        sfen = board.sfen()
        assert value(engine, sfen) == value(engine, flipped(sfen)) == value(engine, mirrored(sfen))


def test_weights_of_a_wrong_size_are_refused() -> None:
    weights, few = KppWeights(), np.zeros(3, np.int16)
    for unfold, arguments in (
        (weights.unfold_king, (0, few, few, 1)),
        (weights.unfold_tempo, (few, few, 4)),
        (weights.unfold_pieces, (np.zeros(3, np.int32), few, few, 1)),
    ):
        with pytest.raises(ValueError, match="wrong size"):
            unfold(*arguments)
    with pytest.raises(ValueError, match="steps of 8, not 4"):
        weights.unfold_tempo(few, few, 8)


def test_incomplete_weights_are_not_used(new_worker: NewWorker) -> None:
    weights = KppWeights()
    assert value(new_worker(weights), START.replace("1r5b1", "7b1")) == VALUES["R"]
    for use in (weights.memory, lambda: weights.complete(0)):
        with pytest.raises(ValueError, match="no weights were allocated"):
            use()


def test_numbers_are_those_of_bonanza() -> None:
    one_kind, one_king = Board("4k4/9/9/9/9/9/9/9/4K4 b 18p 1"), Board("4k4/9/9/9/9/9/9/9/9 b R 1")
    for board in [one_kind, one_king, *random_boards(1, 300)]:
        numbers = [number for number in numbers_of(Position(board.sfen()), "b") if number < 1548]  # without the kings
        assert sorted(bonapieces(board.sfen())[0]) == sorted(numbers)


def test_inverse_and_mirror_undo_themselves_and_commute() -> None:
    inverse, mirror = bonapiece_tables()
    for number in range(1548):
        assert inverse[inverse[number]] == number
        assert mirror[mirror[number]] == number
        assert inverse[mirror[number]] == mirror[inverse[number]]
