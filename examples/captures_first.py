"""A USI engine that sees one move far: it mates, else it wins what it can, else it plays any move that loses nothing.

`python captures_first.py [SEED]`. Static exchange evaluation says what a move wins once all captures on its square
have been made.
"""

from __future__ import annotations

import random
import sys

from usi_loop import serve

from usi_engine import Board

rng = random.Random(*sys.argv[1:2])


def choose(board: Board) -> str:
    """A mate in one; else a move with the greatest gain."""
    mate = board.mate_in_one()
    if mate:
        return mate
    gains = {move: board.see(move) for move in board.legal_moves()}
    best = max(gains.values())
    return rng.choice([move for move, gain in gains.items() if gain == best])


if __name__ == "__main__":
    serve("Captures first", choose)
