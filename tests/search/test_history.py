"""One update of a history entry: gravity keeps it within its limit, and it moves towards the bonus."""

import itertools
import random

import pytest

from core_ext._probe import HISTORY_LIMITS, Probe, updated_entry

LIMITS = sorted(HISTORY_LIMITS.values())


@pytest.mark.parametrize("limit", LIMITS)
def test_an_entry_moves_towards_its_bonus_within_its_limit(limit: int) -> None:
    """A malus mirrors a bonus."""
    rng = random.Random(limit)
    assert 0 < limit <= 32767
    for _ in range(5000):
        entry = rng.randint(-limit, limit)
        bonus = rng.choice((rng.randint(-limit, limit), rng.randint(-50, 50), 10 * limit, -10 * limit))
        after = updated_entry(entry, bonus, limit)
        assert -limit <= after <= limit
        assert (after - entry) * bonus >= 0
        assert updated_entry(-entry, -bonus, limit) == -after


@pytest.mark.parametrize("limit", LIMITS)
def test_repeated_bonuses_converge_to_the_limit(limit: int) -> None:
    entry, moves = 0, []
    for _ in range(200):
        after = updated_entry(entry, limit // 3, limit)
        moves.append(after - entry)
        entry = after
    assert entry == limit
    assert moves == sorted(moves, reverse=True), "each step is smaller than the one before"


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
