"""The staged picker is a third oracle of move generation: exactly the legal moves, once each, whatever comes first."""

import random
from functools import lru_cache

import pytest

from core_ext._probe import PickerProbe, Probe
from tests import positions
from tests.shogi.slow_shogi import Position

CASES = [(positions.STARTS[seed % len(positions.STARTS)], seed) for seed in range(7)]
PURPOSES = ("main", "quiescence", "quiescence checks", "probcut")


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
    """What the picker yields without a hash move and killers."""
    undominated = {move for move in moves if not position.is_dominated(move)}
    if purpose == "main" or position.is_check():
        return undominated
    captures = {move for move in undominated if not is_quiet(position, move)}
    if purpose == "quiescence":
        return captures
    if purpose == "quiescence checks":
        return captures | {move for move in undominated - captures if position.gives_check(move)}
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


@pytest.mark.parametrize("start, seed", CASES)
def test_killers_legal_or_not(start: str, seed: int) -> None:
    """Killers come from other nodes: words that are no move here, captures, the hash move, the same twice."""
    rng, picker, met = random.Random(seed), PickerProbe(seed), 0
    for position, moves, probe in random_walk(start, seed):
        hash_move = rng.choice(["", rng.choice(moves)])
        first = rng.choice([rng.randrange(1 << 16), probe.word(rng.choice(moves))])
        second = rng.choice([rng.randrange(1 << 16), probe.word(rng.choice(moves)), probe.word(hash_move or moves[0])])
        if first == second:
            second = 0
        found = picker.pick(probe, "main", hash_move, (first, second))
        killers = {move for move in moves if probe.word(move) in (first, second) and is_quiet(position, move)}
        expected_moves = expected("main", position, moves, probe, 0) | ({hash_move} - {""})
        if not position.is_check():
            expected_moves |= killers
            met += len(killers)
        assert len(found) == len(set(found)), position.sfen()
        assert set(found) == expected_moves, position.sfen()
    assert met


@pytest.mark.parametrize("start, seed", CASES)
def test_order_of_the_stages(start: str, seed: int) -> None:
    """Hash move, good captures, killers, quiet moves, bad captures."""
    rng, picker = random.Random(seed), PickerProbe(seed)
    for position, moves, probe in random_walk(start, seed):
        quiets = [move for move in moves if is_quiet(position, move)]
        if position.is_check() or len(quiets) < 3:
            continue
        hash_move, *killers = rng.sample(quiets, 3)
        found = picker.pick(probe, "main", hash_move, tuple(probe.word(move) for move in killers))
        assert found[0] == hash_move
        kinds = [is_quiet(position, move) for move in found[1:]]
        first_quiet, last_quiet = kinds.index(True) + 1, len(kinds) - kinds[::-1].index(True)
        assert all(kinds[first_quiet - 1 : last_quiet])
        assert found[first_quiet : first_quiet + 2] == killers
        # Where the line between good and bad captures is depends on their scores, within these exchange values.
        assert all(probe.see_at_least(move, -1500) for move in found[1:first_quiet] if not is_quiet(position, move))
        assert not any(probe.see_at_least(move, 200) for move in found[last_quiet + 1 :])


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
