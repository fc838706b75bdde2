"""Static exchange evaluation against a slow one that plays the exchange on the board of the rulebook twin."""

import pytest

from core_ext._probe import Probe
from core_ext.board import Board
from tests import positions
from tests.shogi.slow_shogi import Position, Square, color_of, other, to_square

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
