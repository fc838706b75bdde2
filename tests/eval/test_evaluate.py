"""The static value: differences against full sums, full sums against the formula, symmetry, material."""

from __future__ import annotations

import numpy as np
import pytest

from core_ext._probe import bonapiece_tables, bonapieces, walk_evaluator
from core_ext.board import Board
from core_ext.engine import HALF_SQUARES, PAIRS, KppWeights, Worker
from tests.conftest import NewWorker
from tests.eval.turning import mirrored, turned
from tests.positions import ENTERED, MATSURI, TWO_PIECE_HANDICAP, random_boards
from usi_engine.evaluation.kpp_file import read_blocks, read_file, unpack
from usi_engine.evaluation.names import KPP

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
# From the opening to both kings entered, and a handicap with pieces missing.
STARTS = [
    START,
    MATSURI,
    ENTERED,
    TWO_PIECE_HANDICAP,
]
VALUES = {
    "P": 90,
    "L": 315,
    "N": 405,
    "S": 495,
    "G": 540,
    "B": 855,
    "R": 990,
    "+P": 540,
    "+L": 540,
    "+N": 540,
    "+S": 540,
    "+B": 945,
    "+R": 1395,
}


def value(engine: Worker, sfen: str) -> int:
    return dict(engine.evaluate(Board(sfen)))["total"]


def check_walk(weights: KppWeights | None, sfen: str, seed: int, count: int) -> None:
    found = walk_evaluator(weights, sfen, seed, count)
    assert found["evaluated"] == count
    assert found["wrong"] == 0
    assert min(found[sort] for sort in ("kings", "captures", "promotions", "drops", "nulls", "undone")) > 0


@pytest.mark.parametrize("sfen", STARTS)
def test_differences_equal_full_sums(weights: KppWeights, sfen: str) -> None:
    check_walk(weights, sfen, 1, 20000)
    check_walk(None, sfen, 2, 20000)


@pytest.mark.slow
@pytest.mark.parametrize("sfen", STARTS)
def test_differences_equal_full_sums_on_a_million_positions(weights: KppWeights, sfen: str) -> None:
    check_walk(weights, sfen, 3, 250000)


class Formula:
    """The value by the formula, from the folded arrays of the file."""

    def __init__(self) -> None:
        self.header, blocks = read_blocks(read_file(KPP))
        self.inverse, self.mirror = bonapiece_tables()
        self.kp = unpack(blocks["kp"], HALF_SQUARES * 1548).astype(int)
        self.kkp = unpack(blocks["kkp"], HALF_SQUARES * 81 * 1548).astype(int)
        self.pp = unpack(blocks["pp"], PAIRS).astype(int)
        self.kp_tempo = unpack(blocks["kp_turn"], HALF_SQUARES * 1548).astype(int)
        self.pp_tempo = unpack(blocks["pp_turn"], PAIRS).astype(int)
        self.kpp = [unpack(blocks[f"kpp{king:02}"], PAIRS).astype(int) for king in range(HALF_SQUARES)]

    def perspective(self, king: int, other: int, seen: list[int]) -> int:
        """The sum from one king's perspective, in 1/32 centipawn."""

        def mirror_square(square: int) -> int:
            return 9 * (8 - square // 9) + square % 9

        if king // 9 > 4:
            king, other, seen = mirror_square(king), mirror_square(other), [self.mirror[number] for number in seen]
        symmetric = [(seen, other)]
        if king // 9 == 4:
            symmetric.append(([self.mirror[number] for number in seen], mirror_square(other)))
        total = 0
        for i in range(len(seen)):
            total += self.kp[king * 1548 + min(numbers[i] for numbers, _ in symmetric)]
            place = min(far * 1548 + numbers[i] for numbers, far in symmetric)
            total += self.header["kkp_step"] * self.kkp[king * 81 * 1548 + place]
            for j in range(i):
                place = min(max(n[i], n[j]) * (max(n[i], n[j]) + 1) // 2 + min(n[i], n[j]) for n, _ in symmetric)
                total += self.pp[place] + self.header["kpp_step"] * self.kpp[king][place]
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
        total = int(self.header["tempo"])
        for king, seen in ((black, mine), (80 - white, theirs)):
            symmetric = [(king, seen), (9 * (8 - king // 9) + king % 9, [self.mirror[number] for number in seen])]
            square_of_index = min(square for square, _ in symmetric)
            for i in range(len(seen)):
                places = [square * 1548 + n[i] for square, n in symmetric if square == square_of_index]
                total += self.kp_tempo[min(places)]
        symmetries = [seen for one in (mine, theirs) for seen in (one, [self.mirror[number] for number in one])]
        for i in range(len(mine)):
            for j in range(i):
                pairs = [(max(n[i], n[j]), min(n[i], n[j])) for n in symmetries]
                total += 4 * self.pp_tempo[min(a * (a + 1) // 2 + b for a, b in pairs)]
        return total


def test_full_sums_equal_the_formula(weights: KppWeights, new_worker: NewWorker) -> None:
    formula, engine = Formula(), new_worker(weights)
    for sfen in [*STARTS, *[board.sfen() for board in random_boards(5, 150)][::5]]:
        terms = dict(engine.evaluate(Board(sfen)))
        value_in_play = sum(terms[name] for name in ("KKP", "KPP of Black's king", "KPP of White's king"))
        sign = 1 if Board(sfen).turn == 0 else -1
        assert abs(value_in_play - sign * formula.terms(sfen) / 32) <= 3, (
            sfen
        )  # three terms, each cut to whole centipawns
        assert abs(terms["tempo"] - formula.tempo(sfen) / 32) <= 1, sfen


def test_the_inverse_has_the_same_value_for_the_side_to_move(weights: KppWeights, new_worker: NewWorker) -> None:
    engine = new_worker(weights)
    for board in random_boards(11, 300):
        sfen = board.sfen()
        assert value(engine, sfen) == value(engine, turned(sfen))


def test_the_mirror_image_has_the_same_value(weights: KppWeights, new_worker: NewWorker) -> None:
    engine = new_worker(weights)
    for board in random_boards(12, 300):
        sfen = board.sfen()
        assert value(engine, sfen) == value(engine, mirrored(sfen))


def material(board: Board) -> int:
    total = 0
    for file in "123456789":
        for rank in "abcdefghi":
            letters = board.piece_at(file + rank)
            if letters and letters.upper() != "K":
                total += VALUES[letters.upper()] * (-1 if letters.islower() else 1)
    for color, sign in ((0, 1), (1, -1)):
        total += sign * sum(VALUES[letters.upper()] * held for letters, held in board.hand(color).items())
    return total if board.turn == 0 else -total


def test_material_is_the_sum_of_the_piece_values(new_worker: NewWorker) -> None:
    engine = new_worker()
    for board in random_boards(13, 300):
        sfen = board.sfen()
        assert value(engine, sfen) == material(Board(sfen))


def test_one_king_alone_has_its_material_value(weights: KppWeights, new_worker: NewWorker) -> None:
    sfen = "4k4/9/4P4/9/9/9/9/9/9 b 2G 1"
    assert abs(value(new_worker(weights), sfen) - (90 + 2 * 540)) < 300  # and the tempo
    assert value(new_worker(), sfen) == 90 + 2 * 540


def test_weights_of_a_wrong_size_are_refused() -> None:
    weights = KppWeights()
    with pytest.raises(ValueError, match="wrong size"):
        weights.unfold_king(0, np.zeros(3, np.int16), np.zeros(3, np.int16), 1)
    with pytest.raises(ValueError, match="wrong size"):
        weights.unfold_tempo(np.zeros(3, np.int16), np.zeros(3, np.int16), 4)
    with pytest.raises(ValueError, match="steps of 8, not 4"):
        weights.unfold_tempo(np.zeros(3, np.int16), np.zeros(3, np.int16), 8)
    with pytest.raises(ValueError, match="wrong size"):
        weights.unfold_pieces(np.zeros(3, np.int32), np.zeros(3, np.int16), np.zeros(3, np.int16), 1)


def test_incomplete_weights_are_not_used(new_worker: NewWorker) -> None:
    weights = KppWeights()
    assert value(new_worker(weights), START.replace("1r5b1", "7b1")) == VALUES["R"]
    for use in (weights.memory, lambda: weights.complete(0)):
        with pytest.raises(ValueError, match="no weights were allocated"):
            use()


def test_a_better_hand_is_better(weights: KppWeights, new_worker: NewWorker) -> None:
    engine = new_worker(weights)
    up = START.replace(" - ", " R ").replace("1B5R1", "1B7")
    assert value(engine, START.replace("1r5b1", "7b1")) > value(engine, START) + 300
    assert abs(value(engine, up) - value(engine, START)) < 700
