"""One update of a history entry: gravity keeps it within its limit, and it moves towards the bonus."""

import itertools
import random

import pytest

from core_ext._probe import HISTORY_LIMITS, Probe, updated_entry

LIMITS = sorted(HISTORY_LIMITS.values())


@pytest.mark.parametrize("limit", LIMITS)
def test_entries_stay_within_their_limit(limit: int) -> None:
    rng, entry = random.Random(limit), 0
    assert 0 < limit <= 32767
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
def test_repeated_bonuses_converge_to_the_limit(limit: int) -> None:
    for bonus in (limit // 3, -limit // 3):
        entry, moves = 0, []
        for _ in range(200):
            after = updated_entry(entry, bonus, limit)
            moves.append(abs(after - entry))
            entry = after
        assert entry == (limit if bonus > 0 else -limit)
        assert moves == sorted(moves, reverse=True), "each step is smaller than the one before"


def test_a_malus_mirrors_a_bonus() -> None:
    rng = random.Random(5)
    for _ in range(2000):
        entry, bonus = rng.randint(-7183, 7183), rng.randint(-9000, 9000)
        assert updated_entry(-entry, -bonus, 7183) == -updated_entry(entry, bonus, 7183)


@pytest.mark.parametrize("color", "bw")
def test_a_pawn_move_changes_the_slot_of_the_pawn_history(color: str) -> None:
    for file, rank in itertools.product(range(9), range(9)):
        board = {(file, rank): "p", ((file + 4) % 9, rank): "k"}
        rows = ["".join(board.get((x, y), "1") for x in range(9)) for y in range(9)]
        text = "/".join(rows) if color == "w" else "/".join(rows).upper()
        legal = Probe(f"{text} {color} - 1").legal_moves(include_all=True)
        for move in (move for move in legal if move[0] == str(9 - file)):
            position = Probe(f"{text} {color} - 1")
            before = position.pawn_history_slot()
            position.push(move)
            assert position.pawn_history_slot() != before, (text, move)
