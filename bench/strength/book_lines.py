"""How many lines of games against itself differ with a book: after so many plies, the book left wherever it ends.

    python -m bench.strength.book_lines [BOOK] [--games 20] [--plies 16] [--nodes 5000]

Each move is the book's, by the engine's default options, or else that of a search of so many nodes.
"""

from __future__ import annotations

import argparse
import random

from bench.strength.booked import BookedPlayer
from core_ext.board import Board
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.player import Player, PlayRules, ending_of


def play(player: BookedPlayer, plies: int) -> Board:
    """The first plies of a game."""
    board = Board()
    player.new_game()
    while board.ply <= plies and not ending_of(board):
        board.push(player.think(board)[0])
    return board


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", nargs="?", default=INTERNAL, help="the file, as the option BookFile")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--plies", type=int, default=16)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    player = Player(load_evaluation(INTERNAL), PlayRules(nodes=chosen.nodes))
    booked = BookedPlayer(player, chosen.book, random.Random(chosen.seed))
    boards = [play(booked, chosen.plies) for _ in range(chosen.games)]
    lines, positions = {tuple(board.moves()) for board in boards}, {board.key for board in boards}
    print(f"{len(lines)} lines and {len(positions)} positions differ after {chosen.plies} plies of {len(boards)} games")


if __name__ == "__main__":
    main()
