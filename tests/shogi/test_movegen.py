"""Every move generator writes the moves of its kind, each once; together they are the legal moves."""

from collections.abc import Iterable

import pytest

from core_ext._probe import Probe
from tests import positions
from tests.shogi.slow_shogi import Position

CASES = [(positions.STARTS[seed % len(positions.STARTS)], seed) for seed in range(21)]


def is_promotion_of_pawn(position: Position, move: str) -> bool:
    return move.endswith("+") and position.board[int(move[0]), "abcdefghi".index(move[1]) + 1].upper() == "P"


def is_capture(position: Position, move: str) -> bool:
    return (int(move[2]), "abcdefghi".index(move[3]) + 1) in position.board


def split(position: Position, moves: Iterable[str]) -> tuple[set[str], set[str], set[str]]:
    """(captures and pawn promotions, quiet board moves, drops)."""
    drops = {move for move in moves if move[1] == "*"}
    loud = {move for move in set(moves) - drops if is_capture(position, move) or is_promotion_of_pawn(position, move)}
    return loud, set(moves) - drops - loud, drops


@pytest.mark.parametrize("start, seed", CASES)
def test_kinds(start: str, seed: int) -> None:
    for position, moves in positions.walk(seed + 1100, 40, start):
        probe = Probe(position.sfen())
        for include_all in (True, False):
            expected_moves = [move for move in moves if include_all or not position.is_dominated(move)]
            if position.is_check():
                assert sorted(probe.legal_moves(include_all)) == sorted(expected_moves), position.sfen()
                continue
            captures, quiets, drops = split(position, expected_moves)
            got = [probe.generate(kind, include_all) for kind in ("captures", "quiets", "drops")]
            assert [len(kind) for kind in got] == [len(set(kind)) for kind in got], "a move is generated twice"
            if include_all:
                # The captures include non-promotions of pawns in the zone: compare the union only.
                assert set(got[0]) | set(got[1]) == captures | quiets, position.sfen()
            else:
                assert (set(got[0]), set(got[1])) == (captures, quiets), position.sfen()
            assert set(got[2]) == drops, position.sfen()
            assert not set(got[0]) & set(got[1])


@pytest.mark.parametrize("start, seed", CASES)
def test_checks(start: str, seed: int) -> None:
    for position, moves in positions.walk(seed + 1200, 25, start):
        probe = Probe(position.sfen())
        checking = {move for move in moves if position.gives_check(move)}
        found = probe.checking_moves(include_all=True)
        assert len(found) == len(set(found))
        assert set(found) == checking, position.sfen()
        _, quiets, drops = split(position, {move for move in checking if not position.is_dominated(move)})
        assert set(probe.quiet_checks()) == quiets | drops, position.sfen()


@pytest.mark.parametrize("start, seed", CASES)
def test_legal(start: str, seed: int) -> None:
    """Compare the list, the test of any 16 bits, the pseudo-legal moves, and whether there is any legal move."""
    for position, moves in positions.walk(seed + 1300, 12, start):
        probe = Probe(position.sfen())
        assert sorted(probe.legal_moves(include_all=True)) == sorted(moves)
        assert sorted(probe.legal_words()) == sorted(moves), position.sfen()
        pseudo_legal = probe.pseudo_legal_moves(include_all=True)
        assert sorted(filter(probe.is_legal, pseudo_legal)) == sorted(moves), position.sfen()
        assert probe.has_legal_move() == bool(moves)


def test_most_moves() -> None:
    assert len(Probe(positions.MOST_MOVES).legal_moves(include_all=True)) == 593
    assert len(Probe(positions.turned_sfen(positions.MOST_MOVES)).legal_moves(include_all=True)) == 593


@pytest.mark.parametrize(
    "sfen",
    [
        "7nk/9/7G1/9/9/9/9/9/4K4 b P 1",  # mate by a pawn drop is the only check
        "k8/9/9/9/9/9/9/9/9 b 2P 1",  # no own king
        "9/9/9/9/9/9/9/9/4K4 b 2G 1",  # no king to check
        "4k4/4P4/4K4/9/9/9/9/9/9 w - 1",
        "P3k4/N8/9/4P4/4P4/9/4p4/9/l3K4 b 2Pp 1",  # pieces without a move, two pawns on a file
        "P3k4/N8/9/4P4/4P4/9/4p4/9/l3K4 w 2Pp 1",
    ],
)
def test_sparse_positions(sfen: str) -> None:
    probe, position = Probe(sfen), Position(sfen)
    assert sorted(probe.legal_moves(include_all=True)) == sorted(position.legal_moves())
    assert set(probe.checking_moves(include_all=True)) == set(position.checking_moves())
