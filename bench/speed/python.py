"""Compare the speed of the Python API with cshogi's, in alternating rounds.

    python -m bench.speed.python

Each row has the rates of both and their ratio, above 1 if Komadori is faster, over the start position, one of the
middle game and one of 207 moves. Positions and moves are as each library gives them: text here, integers there.
"""

import random
from collections.abc import Callable
from typing import Any

import cshogi
import numpy as np
from cshogi.dlshogi import make_input_features

from bench.command import new_parser
from bench.speed.movegen import CROWDED
from bench.table import best_rate
from core_ext.board import Board
from usi_engine.features import dlshogi_planes, piece_planes
from usi_engine.match.report import print_table

START = Board().sfen()
MIDGAME = "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1"
POSITIONS = (START, MIDGAME, CROWDED)
CALLS, ROUNDS = 300, 9
OURS = np.empty((1, 62, 9, 9), np.float32), np.empty((1, 57, 9, 9), np.float32), np.empty((1, 42, 9, 9), np.float32)
THEIRS = OURS[0][0].copy(), OURS[1][0].copy(), np.empty((104, 9, 9), np.float32)

Work = Callable[[Any], object]


def push_and_pop(board: Any) -> None:
    for move in board.legal_moves:
        board.push(move)
        board.pop()


def perft(board: Any, depth: int = 2) -> int:
    if depth == 1:
        return len(board.legal_moves)
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += perft(board, depth - 1)
        board.pop()
    return leaves


def playout(board: Any) -> None:
    """Play 100 random moves and take them back."""
    rng, made = random.Random(1), 0
    while made < 100 and (moves := list(board.legal_moves)):
        board.push(rng.choice(moves))
        made += 1
    for _ in range(made):
        board.pop()


def cshogi_planes(board: Any) -> None:
    """It only sets ones."""
    THEIRS[2].fill(0)
    board.piece_planes(THEIRS[2])


# Name, calls in a round, Komadori's and cshogi's work on a board.
ROWS: list[tuple[str, int, Work, Work]] = [
    ("list of legal moves", CALLS, lambda b: list(b.legal_moves), lambda b: list(b.legal_moves)),
    ("legal_moves()", CALLS, lambda b: b.legal_moves(), lambda b: list(b.legal_moves)),
    ("legal_array()", CALLS, lambda b: b.legal_array(), lambda b: np.array(list(b.legal_moves), np.uint32)),
    ("legal moves as text", CALLS, lambda b: b.legal_moves(), lambda b: [*map(cshogi.move_to_usi, b.legal_moves)]),
    ("number of moves", CALLS, lambda b: len(b.legal_moves), lambda b: len(b.legal_moves)),
    ("push and pop of all moves", CALLS // 10, push_and_pop, push_and_pop),
    ("perft in Python, 2 plies", CALLS // 30, perft, perft),
    ("random playout", CALLS // 30, playout, playout),
    ("dlshogi's planes", CALLS, lambda b: dlshogi_planes(b, *OURS[:2]), lambda b: make_input_features(b, *THEIRS[:2])),
    ("planes of pieces", CALLS, lambda b: piece_planes(b, OURS[2]), cshogi_planes),
    ("hash key", CALLS, lambda b: b.key, lambda b: b.zobrist_hash()),
    ("mate in one", CALLS, lambda b: b.mate_in_one(), lambda b: b.mate_move_in_1ply()),
    ("copy", CALLS, lambda b: b.copy(), lambda b: b.copy()),
]


def rates(calls: int, works: tuple[Work, Work], boards: tuple[list[Any], list[Any]]) -> list[float]:
    """Return thousand calls a second of both, each the best of alternating rounds."""

    def round_of(side: int) -> int:
        work, mine = works[side], boards[side]
        for _ in range(calls):
            for board in mine:
                work(board)
        return calls * len(mine)

    found = [[best_rate(lambda side=side: round_of(side), 1) for side in (0, 1)] for _ in range(ROUNDS)]  # type: ignore[misc]
    return [max(column) / 1000 for column in zip(*found, strict=True)]


def main() -> None:
    new_parser(__doc__).parse_args()
    boards = [Board(sfen) for sfen in POSITIONS], [cshogi.Board(sfen) for sfen in POSITIONS]
    rows = []
    for name, calls, *works in ROWS:
        ours, theirs = rates(calls, (works[0], works[1]), boards)
        rows.append((name, f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}"))
    print_table(("thousand calls/s", "Komadori", "cshogi", "ratio"), rows)


if __name__ == "__main__":
    main()
