"""A USI engine that looks one move ahead: it mates if it can, else it plays a move that wins the most material.

`python captures_first.py [SEED]`. Static exchange evaluation (SEE) gives what a move wins after all captures on
its square.
"""

from __future__ import annotations

import random
import sys

from usi_loop import serve

from usi_engine import Board

rng = random.Random(*sys.argv[1:2])


def choose(board: Board) -> str:
    mate = board.mate_in_one()
    if mate:
        return mate
    gains = {move: board.see(move) for move in board.legal_moves()}
    best = max(gains.values())
    return rng.choice([move for move, gain in gains.items() if gain == best])


if __name__ == "__main__":
    serve("Captures first", choose)
