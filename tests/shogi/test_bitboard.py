"""Bitboard attacks against the rulebook twin's; the packed hand against plain counts."""

import random

import pytest

from core_ext import _probe
from tests import positions
from tests.shogi.slow_shogi import Position, Square

KINDS = {"P": 1, "L": 2, "N": 3, "S": 4, "B": 5, "R": 6, "G": 7, "K": 8, "+P": 9, "+L": 10, "+N": 11, "+S": 12,
         "+B": 13, "+R": 14}  # fmt: skip
FULL_SET: tuple[int, ...] = (18, 4, 4, 4, 2, 2, 4)  # pawns to golds


def index(square: Square) -> int:
    return 9 * (square[0] - 1) + square[1] - 1


def twin_reach(color: int, kind: str, square: Square, occupied: list[Square]) -> set[int]:
    position = Position("9/9/9/9/9/9/9/9/9 b - 1")
    position.board = dict.fromkeys(occupied, "P")
    position.board[square] = kind if color == 0 else kind.lower()
    return {index(target) for target in position.reach(square)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("color", [0, 1])
def test_attacks_on_empty_and_crowded_boards(kind: str, color: int) -> None:
    rng = random.Random(KINDS[kind])
    for square in positions.ALL_SQUARES:
        for crowd in (0, 0.15, 0.4, 0.9):
            occupied = [other for other in positions.ALL_SQUARES if other != square and rng.random() < crowd]
            taken = [index(other) for other in occupied] + [index(square)]
            found = _probe.piece_attacks(color, KINDS[kind], index(square), taken)
            assert len(found) == len(set(found))
            assert set(found) == twin_reach(color, kind, square, occupied)


@pytest.mark.parametrize("kind", ["L", "B", "R"])
def test_every_occupancy_of_a_line(kind: str) -> None:
    """All 512 ways to fill a file and a rank through each square."""
    for square in [(1, 1), (1, 9), (5, 5), (7, 3), (8, 2), (9, 9), (8, 9)]:
        for bits in range(512):
            line = [(square[0], 1 + i) for i in range(9) if bits >> i & 1]
            line += [(1 + i, square[1]) for i in range(9) if bits >> i & 1]
            occupied = [other for other in line if other != square]
            taken = [index(other) for other in occupied]
            found = set(_probe.piece_attacks(0, KINDS[kind], index(square), taken))
            assert found == twin_reach(0, kind, square, occupied)


def test_packed_hands() -> None:
    rng = random.Random(9)
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]]
    cases = [(one, two) for one in (FULL_SET, (0,) * 7) for two in (FULL_SET, (0,) * 7)]
    for _ in range(3000):
        drawn = tuple(rng.randint(0, most) for most in FULL_SET)
        near = tuple(rng.choice((own, rng.randint(0, most))) for own, most in zip(drawn, FULL_SET, strict=True))
        cases.append((drawn, near))
    for one, two in cases:
        read, covers, held = _probe.hand_facts(one, two)
        assert tuple(read) == one
        assert covers == all(a >= b for a, b in zip(one, two, strict=True))
        assert held == [bool(number) for number in one]
