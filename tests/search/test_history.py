"""One update of a history entry: gravity keeps it within its limit, and it moves towards the bonus."""

import random

import pytest

from core_ext._probe import HISTORY_LIMITS, Probe, updated_entry
from tests.shogi.slow_shogi import START

LIMITS = sorted(HISTORY_LIMITS.values())


def test_limits_fit_in_16_bits() -> None:
    assert len(LIMITS) == 5
    assert all(0 < limit <= 32767 for limit in LIMITS)


@pytest.mark.parametrize("limit", LIMITS)
def test_entries_stay_within_their_limit(limit: int) -> None:
    rng = random.Random(limit)
    entry = 0
    for _ in range(20_000):
        bonus = rng.choice((rng.randint(-limit, limit), rng.randint(-50, 50), 10 * limit, -10 * limit))
        entry = updated_entry(entry, bonus, limit)
        assert -limit <= entry <= limit


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_entry_moves_towards_its_bonus(limit: int, sign: int) -> None:
    for start in range(-limit, limit, limit // 7):
        for bonus in (1, limit // 9, limit):
            moved = sign * (updated_entry(start, sign * bonus, limit) - start)
            assert moved >= 0
            assert moved > 0 or sign * start + bonus > limit - 1 or bonus == 1


@pytest.mark.parametrize("limit", LIMITS)
def test_the_same_bonus_again_and_again_ends_at_the_limit(limit: int) -> None:
    for bonus in (limit // 3, -limit // 3):
        entry, moves = 0, []
        for _ in range(200):
            after = updated_entry(entry, bonus, limit)
            moves.append(abs(after - entry))
            entry = after
        assert entry == (limit if bonus > 0 else -limit)
        assert moves == sorted(moves, reverse=True), "each step is smaller than the one before"


@pytest.mark.parametrize("limit", LIMITS)
def test_a_bonus_of_nothing_changes_nothing(limit: int) -> None:
    assert [updated_entry(entry, 0, limit) for entry in (-limit, -3, 0, 3, limit)] == [-limit, -3, 0, 3, limit]


def test_black_and_white_bonuses_mirror() -> None:
    """A malus does to the negated entry what a bonus does to the entry."""
    rng = random.Random(5)
    for _ in range(2000):
        entry, bonus = rng.randint(-7183, 7183), rng.randint(-9000, 9000)
        assert updated_entry(-entry, -bonus, 7183) == -updated_entry(entry, bonus, 7183)


@pytest.mark.parametrize("file", range(1, 10))
@pytest.mark.parametrize("ranks", ["gf", "fe", "cd", "de"])
def test_each_pawn_move_leads_to_another_table_of_the_pawn_history(file: int, ranks: str) -> None:
    """The pawns of a file, on their ranks of the start or one on."""
    position = Probe(START)
    for move in (f"{file}g{file}f", f"{file}c{file}d"):
        if ranks in ("fe", "de"):
            position.push(move)
    if ranks[0] in "cd":
        position.push("5i5h")
    before = position.pawn_history_slot()
    position.push(f"{file}{ranks[0]}{file}{ranks[1]}")
    assert position.pawn_history_slot() != before
