"""The staged picker yields exactly the legal moves, once each; updates of the histories that sort them."""

import functools
import itertools
import random

import numpy as np
import pytest

from core_ext._probe import HISTORY_LIMITS, PickerProbe, Probe, first_greatest, updated_entry
from tests import positions
from tests.positions import is_quiet
from tests.shogi.slow_shogi import Position

SEEDS = range(7)
PURPOSES = ("main", "quiescence", "probcut")
STAGES = [False, True, False, True]  # whether each stage of the main search after the hash move is quiet


@functools.cache
def random_walk(seed: int) -> list[tuple[Position, list[str], Probe]]:
    """Positions of a random game, each with its legal moves."""
    return [(position, moves, Probe(position.sfen())) for position, moves, *_ in positions.scenes(seed) if moves]


def expected(purpose: str, position: Position, moves: list[str], probe: Probe, threshold: int) -> set[str]:
    undominated = {move for move in moves if not position.is_dominated(move)}
    if purpose == "main" or position.is_check():
        return undominated
    captures = {move for move in undominated if not is_quiet(position, move)}
    if purpose == "quiescence":
        return captures
    return {move for move in captures if probe.see_at_least(move, threshold)}


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_move_comes_once_and_a_hash_move_first(seed: int, purpose: str) -> None:
    rng, picker = random.Random(seed), PickerProbe(seed)
    for position, moves, probe in random_walk(seed):
        threshold = rng.choice((-500, 0, 200, 900))
        wanted = expected(purpose, position, moves, probe, threshold)
        found = picker.pick(probe, purpose, threshold=threshold, ply=rng.randrange(6))
        assert sorted(found) == sorted(wanted), position.sfen()
        tactical = [move for move in moves if not is_quiet(position, move)]
        if allowed := moves if purpose == "main" or position.is_check() else tactical:
            hash_move = rng.choice(allowed)
            found = picker.pick(probe, purpose, hash_move, threshold=threshold)
            assert found[0] == hash_move
            assert sorted(found) == sorted(wanted | {hash_move}), position.sfen()


def stages_of(position: Position, moves: list[str]) -> list[tuple[bool, list[str]]]:
    """Runs of quiet and of other moves."""
    return [(quiet, list(run)) for quiet, run in itertools.groupby(moves, lambda move: is_quiet(position, move))]


def test_order_of_the_stages() -> None:
    """Good captures, good quiet moves, bad captures, bad quiet moves; any of them may be missing."""
    all_met = 0
    for seed in SEEDS:
        picker = PickerProbe(seed)
        for position, _, probe in random_walk(seed):
            stages = stages_of(position, picker.pick(probe, "main"))
            kinds = [quiet for quiet, _ in stages]
            if position.is_check():
                assert kinds == sorted(kinds)  # captures before other evasions
                continue
            assert any(kinds == STAGES[i:j] for i in (0, 1, 2) for j in (1, 2, 3, 4)), position.sfen()
            # The threshold between good and bad captures depends on their scores, within these exchange values.
            good, bad = (stages[0][1] if not kinds[0] else []), [run for quiet, run in stages[1:] if not quiet]
            assert all(probe.see_at_least(move, -1500) for move in good)
            assert not any(probe.see_at_least(move, 200) for run in bad for move in run)
            all_met += kinds == STAGES
    assert all_met > 5


def test_the_best_of_a_stage_comes_first() -> None:
    longest = 0
    for start in positions.STARTS:  # with few moves and with hundreds
        picker, probe = PickerProbe(1), Probe(start)
        stages = stages_of(Position(start), picker.pick(probe, "main"))
        scores = iter(picker.scores)
        for quiet, moves in stages:
            of_stage = [next(scores) for _ in moves]
            assert of_stage == sorted(of_stage, reverse=True), start
            longest = max(longest, len(moves) if quiet else 0)
    assert longest > 100


@pytest.mark.parametrize("count", [*range(1, 20), 33, 100, 593])
def test_the_first_of_the_greatest_is_found(count: int) -> None:
    rng = np.random.default_rng(count)
    for greatest in (1, 3, 1000, 2**31):
        pairs = rng.integers(-greatest, greatest, (count, 2), np.int64).astype(np.int32)
        pairs[:, 1] = rng.integers(2**30, 2**31, count)  # the second column must be ignored
        assert first_greatest(pairs) == pairs[:, 0].argmax()
    least = np.full((count, 2), [-(2**31), 5], np.int32)
    assert first_greatest(least) == 0


@pytest.mark.parametrize("purpose", PURPOSES)
def test_peeking_changes_nothing(purpose: str) -> None:
    """The peeked move is the next one unless the picker then skips it or a new stage begins."""
    announced = kept = 0
    for seed in SEEDS:
        plain, peeking = PickerProbe(seed), PickerProbe(seed)
        for _, _, probe in random_walk(seed):
            found = plain.pick(probe, purpose, skip_quiets_after=30)
            assert peeking.pick(probe, purpose, skip_quiets_after=30, peek=True) == found
            for move, peeked in zip(found, peeking.peeked, strict=True):
                announced += peeked is not None
                kept += peeked == move
                assert peeked is None or peeked == move or purpose != "quiescence"
    assert kept > 0.8 * announced > 100


@pytest.mark.parametrize("after", [0, 1, 7])
@pytest.mark.parametrize("seed", SEEDS)
def test_skipping_quiets_leaves_the_others(seed: int, after: int) -> None:
    picker = PickerProbe(seed)
    for position, moves, probe in random_walk(seed):
        if position.is_check():
            continue
        found = picker.pick(probe, "main", skip_quiets_after=after)
        captures = expected("quiescence", position, moves, probe, 0)
        assert {move for move in found if not is_quiet(position, move)} == captures
        assert not any(is_quiet(position, move) for move in found[after:])


def repeated(bonus: int, limit: int) -> int:
    """Return an entry after many equal bonuses."""
    return functools.reduce(lambda entry, _: updated_entry(entry, bonus, limit), range(200), 0)


@pytest.mark.parametrize("limit", sorted(HISTORY_LIMITS.values()))
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
    assert repeated(limit // 3, limit) == limit


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
