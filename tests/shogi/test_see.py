"""Static exchange against a slow one that really plays the exchange out on the twin's board."""

import pytest

from core_ext._probe import Probe
from tests import positions
from tests.shogi.slow_shogi import Position, other, to_square

VALUES = {
    "P": 90, "L": 315, "N": 405, "S": 495, "B": 855, "R": 990, "G": 540, "K": 15000,
    "+P": 540, "+L": 540, "+N": 540, "+S": 540, "+B": 945, "+R": 1395,
}
# The order in which pieces take; equal values are settled by it.
TAKING = ["P", "L", "N", "+P", "+L", "+N", "S", "+S", "G", "B", "R", "+B", "+R", "K"]


def slow_see(position, move):
    """Each side may stop; the cheapest takes; pins are not looked at, nor promotions on the way; a king takes last."""
    target = to_square(move[2:4])
    captured = position.board.get(target)
    gain = VALUES[captured.upper()] if captured else 0
    if move.endswith("+"):
        mover = position.board[to_square(move)].upper()
        gain += VALUES["+" + mover] - VALUES[mover]
    return gain - best_recapture(position.after(move).board, target, other(position.turn))


def best_recapture(board, target, side):
    """What `side` wins by taking on `target`, or 0 where it had better not."""
    scene = Position("9/9/9/9/9/9/9/9/9 b - 1")
    scene.board = board
    takers = scene.attackers(target, side)
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


CASES = [(positions.STARTS[seed % len(positions.STARTS)], seed) for seed in range(14)]


@pytest.mark.parametrize("start, seed", CASES)
def test_exchanges(start, seed):
    for position, moves in positions.walk(seed + 1400, 30, start):
        probe = Probe(position.sfen())
        for move in sorted(moves)[:: max(1, len(moves) // 40)]:
            assert probe.see(move) == slow_see(position, move), (position.sfen(), move)


@pytest.mark.parametrize("start, seed", CASES[:7])
def test_threshold_agrees_with_value(start, seed):
    for position, moves in positions.walk(seed + 1500, 10, start):
        probe = Probe(position.sfen())
        for move in moves[:20]:
            value = probe.see(move)
            assert probe.see_at_least(move, value)
            assert not probe.see_at_least(move, value + 1)
            assert probe.see_at_least(move, value - 1)
