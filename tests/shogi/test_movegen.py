"""Every move generator writes the moves of its kind, each once; together they are the legal moves; perft."""

import itertools
from typing import Any

import pytest

from core_ext._probe import Probe
from core_ext.board import Board
from tests import positions
from tests.positions import is_quiet
from tests.shogi.slow_shogi import Position


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_captures_quiets_drops_and_evasions(seed: int) -> None:
    for position, moves, _, _ in positions.scenes(seed):
        probe, board = Probe(position.sfen()), Board(position.sfen())
        for include_all in (True, False):
            expected = {move for move in moves if include_all or not position.is_dominated(move)}
            assert sorted(board.legal_moves(include_all)) == sorted(expected), position.sfen()
        if not position.is_check():
            found = {kind: probe.generate(kind) for kind in ("captures", "quiets", "drops")}
            assert sorted(itertools.chain(*found.values())) == sorted(expected), position.sfen()
            drops = {move for move in expected if move[1] == "*"}
            assert set(found["drops"]) == drops, position.sfen()
            assert set(found["quiets"]) == {move for move in expected - drops if is_quiet(position, move)}


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_checks_and_quiet_checks(seed: int) -> None:
    for position, moves, checks, _ in positions.scenes(seed):
        board = Board(position.sfen())
        assert sorted(board.checking_moves(include_all=True)) == sorted(checks), position.sfen()
        assert {move for move in moves if board.gives_check(move)} == checks, position.sfen()
        expected = {move for move in checks if not position.is_dominated(move)}
        assert sorted(board.checking_moves()) == sorted(expected), position.sfen()
        quiet = {move for move in expected if is_quiet(position, move)}
        assert sorted(board.quiet_checks()) == sorted(quiet), position.sfen()


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_legal_and_pseudo_legal_moves(seed: int) -> None:
    """Compare the test of any 16 bits, the pseudo-legal moves, and whether there is any legal move."""
    for position, moves, _, _ in positions.scenes(seed)[::3]:
        probe = Probe(position.sfen())
        assert sorted(probe.legal_words()) == sorted(moves), position.sfen()
        pseudo_legal = probe.pseudo_legal_moves(include_all=True)
        assert sorted(filter(probe.is_legal, pseudo_legal)) == sorted(moves), position.sfen()
        assert probe.has_legal_move() == bool(moves)


def test_most_moves() -> None:
    for sfen in (positions.MOST_MOVES, positions.flipped(positions.MOST_MOVES)):
        assert len(Probe(sfen).legal_moves(include_all=True)) == 593


@pytest.mark.parametrize(
    "sfen",
    [
        # A pawn drop may check but not mate: the king steps to 2a, or the rook captures the pawn.
        "7nk/9/7G1/9/9/9/9/9/4K4 b P 1",
        "8k/9/7G1/9/9/9/9/9/4K4 b P 1",
        "7nk/6r2/7G1/9/9/9/9/9/4K4 b P 1",
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


# ---- leaf counts on which several other engines agree; the large ones are slow ----

QUICK = 6_000_000  # leaves


def rows() -> list[Any]:
    found = []
    for name, sfen, depth, nodes, _ in positions.data_rows("perft.tsv"):
        marks = [pytest.mark.slow] * (int(nodes) > QUICK)
        found.append(pytest.param(sfen, int(depth), int(nodes), id=f"{name}-{depth}", marks=marks))
    return found


@pytest.mark.parametrize("sfen, depth, nodes", rows())
def test_known_counts(sfen: str, depth: int, nodes: int) -> None:
    assert Board(sfen).perft(depth) == nodes


def test_the_board_is_unchanged() -> None:
    board = Board(positions.MATSURI)
    board.perft(3)
    assert (board.perft(0), board.sfen(), board.moves()) == (1, positions.MATSURI, [])


@pytest.mark.parametrize("depth", [-1, 65, 2**31])
def test_a_depth_out_of_range_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match=str(depth)):
        Board().perft(depth)
