"""Static exchange evaluation against a slow one that plays the exchange out on the rulebook twin's board."""

import pytest

from core_ext._probe import Probe
from tests import positions
from tests.shogi.slow_shogi import Position, Square, other, to_square

VALUES = {
    "P": 90,
    "L": 315,
    "N": 405,
    "S": 495,
    "B": 855,
    "R": 990,
    "G": 540,
    "K": 15000,
    "+P": 540,
    "+L": 540,
    "+N": 540,
    "+S": 540,
    "+B": 945,
    "+R": 1395,
}
# The order in which pieces capture; it breaks ties of value.
TAKING = ["P", "L", "N", "+P", "+L", "+N", "S", "+S", "G", "B", "R", "+B", "+R", "K"]


def slow_see(position: Position, move: str) -> int:
    """Each side may stop; the least valuable piece captures first; pins and later promotions are ignored."""
    target = to_square(move[2:4])
    captured = position.board.get(target)
    gain = VALUES[captured.upper()] if captured else 0
    if move.endswith("+"):
        mover = position.board[to_square(move)].upper()
        gain += VALUES["+" + mover] - VALUES[mover]
    return gain - best_recapture(position.after(move).board, target, other(position.turn))


def best_recapture(board: dict[Square, str], target: Square, side: str) -> int:
    """What `side` wins by capturing on `target`; 0 if it had better not capture."""
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
def test_exchanges(start: str, seed: int) -> None:
    for position, moves in positions.walk(seed + 1400, 30, start):
        probe = Probe(position.sfen())
        for move in sorted(moves)[:: max(1, len(moves) // 40)]:
            assert probe.see(move) == slow_see(position, move), (position.sfen(), move)


@pytest.mark.parametrize("start, seed", CASES[:7])
def test_threshold_agrees_with_value(start: str, seed: int) -> None:
    for position, moves in positions.walk(seed + 1500, 10, start):
        probe = Probe(position.sfen())
        for move in moves[:20]:
            value = probe.see(move)
            assert probe.see_at_least(move, value)
            assert not probe.see_at_least(move, value + 1)
            assert probe.see_at_least(move, value - 1)
