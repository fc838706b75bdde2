"""The staged picker is a third oracle of move generation: exactly the legal moves, once each, whatever comes first."""

import itertools
import random
from functools import lru_cache

import numpy as np
import pytest

from core_ext._probe import PickerProbe, Probe, first_greatest
from tests import positions
from tests.shogi.slow_shogi import Position

CASES = [(positions.STARTS[seed % len(positions.STARTS)], seed) for seed in range(7)]
PURPOSES = ("main", "quiescence", "probcut")
STAGES = [False, True, False, True]  # in the main search without its hash move: whether they are quiet


def is_quiet(position: Position, move: str) -> bool:
    """Neither a capture nor a pawn's promotion."""
    target = (int(move[2]), "abcdefghi".index(move[3]) + 1)
    if move[1] == "*":
        return True
    pawn = position.board[int(move[0]), "abcdefghi".index(move[1]) + 1].upper() == "P"
    return target not in position.board and not (pawn and move.endswith("+"))


@lru_cache
def random_walk(start: str, seed: int) -> list[tuple[Position, list[str], Probe]]:
    """Positions of a random game by the slow twin's rules, each with its legal moves; one for all tests."""
    walk = positions.walk(seed + 5000, 40, start)
    return [(position, moves, Probe(position.sfen())) for position, moves in walk if moves]


def expected(purpose: str, position: Position, moves: list[str], probe: Probe, threshold: int) -> set[str]:
    """What the picker yields without a hash move."""
    undominated = {move for move in moves if not position.is_dominated(move)}
    if purpose == "main" or position.is_check():
        return undominated
    captures = {move for move in undominated if not is_quiet(position, move)}
    if purpose == "quiescence":
        return captures
    return {move for move in captures if probe.see_at_least(move, threshold)}


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("start, seed", CASES)
def test_without_a_hash_move(start: str, seed: int, purpose: str) -> None:
    rng, picker = random.Random(seed), PickerProbe(seed)
    for position, moves, probe in random_walk(start, seed):
        threshold = rng.choice((-500, 0, 200, 900))
        found = picker.pick(probe, purpose, threshold=threshold, ply=rng.randrange(6))
        assert len(found) == len(set(found)), position.sfen()
        assert set(found) == expected(purpose, position, moves, probe, threshold), position.sfen()


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("start, seed", CASES)
def test_a_hash_move_comes_first_and_only_once(start: str, seed: int, purpose: str) -> None:
    """Any legal move in the main search and in check, dominated ones too; a capture or a pawn's promotion elsewhere."""
    rng, picker = random.Random(seed), PickerProbe(seed)
    for position, moves, probe in random_walk(start, seed):
        loud = [move for move in moves if not is_quiet(position, move)]
        allowed = moves if purpose == "main" or position.is_check() else loud
        if not allowed:
            continue
        hash_move = rng.choice(allowed)
        found = picker.pick(probe, purpose, hash_move)
        assert found[0] == hash_move
        assert len(found) == len(set(found)), position.sfen()
        assert set(found) == expected(purpose, position, moves, probe, 0) | {hash_move}, position.sfen()


def stages_of(position: Position, moves: list[str]) -> list[tuple[bool, list[str]]]:
    """Runs of quiet and of other moves."""
    return [(quiet, list(run)) for quiet, run in itertools.groupby(moves, lambda move: is_quiet(position, move))]


def test_order_of_the_stages() -> None:
    """Good captures, good quiet moves, bad captures, bad quiet moves; any of them may be missing."""
    all_met = 0
    for start, seed in CASES:
        picker = PickerProbe(seed)
        for position, _, probe in random_walk(start, seed):
            if position.is_check():
                continue
            stages = stages_of(position, picker.pick(probe, "main"))
            kinds = [quiet for quiet, _ in stages]
            assert any(kinds == STAGES[i:j] for i in (0, 1, 2) for j in (1, 2, 3, 4)), position.sfen()
            # Where the line between good and bad captures is depends on their scores, within these exchange values.
            good, bad = (stages[0][1] if not kinds[0] else []), [run for quiet, run in stages[1:] if not quiet]
            assert all(probe.see_at_least(move, -1500) for move in good)
            assert not any(probe.see_at_least(move, 200) for run in bad for move in run)
            all_met += kinds == STAGES
    assert all_met > 5


def test_the_best_of_a_stage_comes_first() -> None:
    """With few moves and with hundreds, which are selected in different ways."""
    longest = 0
    for start in (*positions.STARTS, positions.MATSURI):
        picker, probe = PickerProbe(1), Probe(start)
        stages = stages_of(Position(start), picker.pick(probe, "main"))
        scores = iter(picker.scores)
        for quiet, moves in stages:
            of_stage = [next(scores) for _ in moves]
            assert of_stage == sorted(of_stage, reverse=True), start
            longest = max(longest, len(moves) if quiet else 0)
    assert longest > 100


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("count", [*range(1, 40), 100, 593])
def test_the_first_of_the_greatest_is_found(count: int, portable: bool) -> None:
    rng = np.random.default_rng(count)
    for greatest in (1, 3, 1000, 2**31):
        pairs = rng.integers(-greatest, greatest, (count, 2), np.int64).astype(np.int32)
        pairs[:, 1] = rng.integers(2**30, 2**31, count)  # what does not count is greater
        assert first_greatest(portable, pairs) == pairs[:, 0].argmax()
    least = np.full((count, 2), [-(2**31), 5], np.int32)
    assert first_greatest(portable, least) == 0


@pytest.mark.parametrize("purpose", PURPOSES)
def test_asking_for_the_next_move_changes_nothing(purpose: str) -> None:
    """And it is the move that comes, but where the picker then holds it back or a stage begins."""
    announced = kept = 0
    for start, seed in CASES:
        plain, asking = PickerProbe(seed), PickerProbe(seed)
        for _, _, probe in random_walk(start, seed):
            found = plain.pick(probe, purpose, skip_quiets_after=30)
            assert asking.pick(probe, purpose, skip_quiets_after=30, peek=True) == found
            for move, peeked in zip(found, asking.peeked, strict=True):
                announced += peeked is not None
                kept += peeked == move
                assert peeked is None or peeked == move or purpose != "quiescence"
    assert kept > 0.8 * announced > 100


@pytest.mark.parametrize("start, seed", CASES)
def test_captures_before_other_evasions(start: str, seed: int) -> None:
    picker = PickerProbe(seed)
    for position, _, probe in random_walk(start, seed):
        if position.is_check():
            kinds = [is_quiet(position, move) for move in picker.pick(probe, "main")]
            assert kinds == sorted(kinds)


def test_walks_meet_what_the_tests_are_about() -> None:
    """Enough positions in check, and enough captures and dominated moves, that the tests above compare something."""
    met = [
        (position.is_check(), any(map(position.is_dominated, moves)), not all(is_quiet(position, m) for m in moves))
        for start, seed in CASES
        for position, moves, _ in random_walk(start, seed)
    ]
    checks, dominated, captures = (sum(kind) for kind in zip(*met, strict=True))
    assert (checks > 20, dominated > 20, captures > 100) == (True, True, True), (checks, dominated, captures)


@pytest.mark.parametrize("after", [0, 1, 7])
@pytest.mark.parametrize("start, seed", CASES)
def test_skipping_quiets_leaves_the_others(start: str, seed: int, after: int) -> None:
    picker = PickerProbe(seed)
    for position, moves, probe in random_walk(start, seed):
        if position.is_check():
            continue
        found = picker.pick(probe, "main", skip_quiets_after=after)
        captures = expected("quiescence", position, moves, probe, 0)
        assert {move for move in found if not is_quiet(position, move)} == captures
        assert not any(is_quiet(position, move) for move in found[after:])
