"""Every move generator writes the moves of its kind, each once, together the legal moves; perft; exchanges."""

import itertools
from typing import Any

import pytest

from core_ext._probe import Probe
from core_ext.board import Board
from tests import positions
from tests.positions import is_quiet
from tests.shogi.slow_shogi import Position, Square, color_of, other, to_square


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


# ---- static exchange evaluation, against a slow one on the board of the rulebook twin ----

VALUES = {"K": 15000} | positions.VALUES
# The order in which pieces capture; it breaks ties of value.
TAKING = ["P", "L", "N", "+P", "+L", "+N", "S", "+S", "G", "B", "R", "+B", "+R", "K"]


def slow_see(position: Position, move: str) -> int:
    """Return the value of a move: each side may stop, cheap pieces capture first, later promotions are ignored."""
    target = to_square(move[2:4])
    captured = position.board.get(target)
    gain = VALUES[captured.upper()] if captured else 0
    if move.endswith("+"):
        mover = position.board[to_square(move)].upper()
        gain += VALUES["+" + mover] - VALUES[mover]
    return gain - best_recapture(position.after(move).board, target, other(position.turn))


def scene_of(board: dict[Square, str]) -> Position:
    scene = Position("9/9/9/9/9/9/9/9/9 b - 1")
    scene.board = board
    return scene


def pinned_off(position: Position, side: str, target: Square) -> set[Square]:
    """Return the pinned pieces of a side, except those whose pin is on the line to `target`."""
    king, board = position.king(side), position.board
    if king is None:
        return set()
    attacking = position.attackers(king, other(side))
    return {
        square
        for square, piece in board.items()
        if color_of(piece) == side
        and square != king
        and (square[0] - king[0]) * (target[1] - king[1]) != (square[1] - king[1]) * (target[0] - king[0])
        and scene_of({s: p for s, p in board.items() if s != square}).attackers(king, other(side)) != attacking
    }


def best_recapture(board: dict[Square, str], target: Square, side: str) -> int:
    """Return the gain of `side` by captures on `target`; 0 if capturing loses."""
    scene = scene_of(board)
    attackers = scene.attackers(target, side)
    pinned = pinned_off(scene, side, target) if attackers else set()
    takers = [square for square in attackers if square not in pinned]
    if not takers:
        return 0
    cheapest = min(takers, key=lambda square: TAKING.index(board[square].upper()))
    taker = board[cheapest]
    following = {square: piece for square, piece in board.items() if square != cheapest}
    following[target] = taker
    scene.board = following
    if taker.upper() == "K" and scene.attackers(target, other(side)):
        return 0
    return max(0, VALUES[board[target].upper()] - best_recapture(following, target, other(side)))


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_values_are_those_of_the_slow_exchange(seed: int) -> None:
    for position, moves, _, _ in positions.scenes(seed)[::2]:
        probe, board = Probe(position.sfen()), Board(position.sfen())
        for move in sorted(moves)[:: max(1, len(moves) // 20)]:
            assert probe.see(move) == board.see(move) == slow_see(position, move), (position.sfen(), move)


def test_a_pinned_piece_does_not_capture() -> None:
    """A bishop guards 4d; the lance pins it to its king."""
    pinned = "4k4/9/4b4/9/5P3/9/4L4/9/4K4 b - 1"
    assert Probe(pinned).see("4e4d") == 0
    assert Probe(pinned.replace("4L4", "9")).see("4e4d") == -VALUES["P"]


def test_a_pinned_piece_captures_the_pinning_one() -> None:
    """The rook on 5c pins the bishop that guards 3c, until it captures there; then only a lance behind it pins."""
    pinned = "7k1/9/4r4/6P2/4B4/9/9/9/4K4 b - 1"
    assert Probe(pinned).see("3d3c") == 0
    assert Probe(pinned.replace("7k1/9/", "7k1/4l4/")).see("3d3c") == -VALUES["P"]


def test_thresholds_agree_with_values() -> None:
    for position, moves, _, _ in positions.all_scenes(8):
        probe = Probe(position.sfen())
        for move in moves[:20]:
            value = probe.see(move)
            assert [probe.see_at_least(move, value + more) for more in (-1, 0, 1)] == [True, True, False]
