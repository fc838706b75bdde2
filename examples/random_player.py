"""A USI engine that plays any legal move: `python random_player.py [SEED]`. The same seed gives the same moves."""

from __future__ import annotations

import random
import sys

from usi_loop import serve

from usi_engine import Board

rng = random.Random(*sys.argv[1:2])


def choose(board: Board) -> str:
    return rng.choice(board.legal_moves(include_all=True))  # dominated moves too


if __name__ == "__main__":
    serve("Random player", choose)
