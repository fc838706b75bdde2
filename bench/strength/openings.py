"""Write balanced, varied openings from the engine's own play (usi_engine/data/openings.sfen).

    nice python -m bench.strength.openings usi_engine/data/openings.sfen --count 400

Each ply plays the best move of a random half of the legal moves if it loses at most --margin centipawns against the
best of all moves, else the best of all. A line is kept if a longer search of its last position finds neither side ahead
by more than --balance, and if no kept line ends in the same position. Line n depends only on --seed and n, and one
thread searches from a cleared table, so the same build writes the same file.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from bench.command import new_parser, one_line
from core_ext.board import Board
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.files import atomic_write
from usi_engine.learn.player import Player
from usi_engine.learn.settings import PlayRules
from usi_engine.progress import Progress


def varied_move(player: Player, board: Board, rng: random.Random, margin: int) -> str:
    """Return the best of a random half of the moves if it is nearly as good as the best of all, else the latter."""
    moves = board.legal_moves()
    best, value = player.think(board)
    other, other_value = player.think(board, rng.sample(moves, (len(moves) + 1) // 2))
    return other if other_value >= value - margin else best


def opening(player: Player, number: int, chosen: argparse.Namespace) -> Board | None:
    """Return line `number`, or None if one side is ahead at its end."""
    rng, board = random.Random(f"{chosen.seed} {number}"), Board()
    player.new_game()
    for _ in range(chosen.plies):
        if not board.legal_moves():
            return None
        board.push(varied_move(player, board, rng, chosen.margin))
    player.new_game()
    _, value = player.think(board, nodes=chosen.check_nodes)
    return board if abs(value) <= chosen.balance else None


def openings(chosen: argparse.Namespace) -> Iterator[str]:
    """Yield lines `startpos moves ...` with different last positions."""
    player = Player(load_evaluation(chosen.weights), PlayRules(nodes=chosen.nodes))
    number, ends = 0, set[int]()
    while len(ends) < chosen.count:
        board = opening(player, number, chosen)
        number += 1
        if board is not None and board.key not in ends:
            ends.add(board.key)
            yield "startpos moves " + " ".join(board.moves())


def parse() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("file", type=Path, help="written: lines `startpos moves ...`")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--plies", type=int, default=24)
    parser.add_argument("--nodes", type=int, default=2000, help="of each of the two searches a ply")
    parser.add_argument("--margin", type=int, default=60, help="centipawns that a varied move may lose")
    parser.add_argument("--check-nodes", type=int, default=50_000, help="of the search of the last position")
    parser.add_argument("--balance", type=int, default=120, help="centipawns, for either side")
    parser.add_argument("--weights", default=INTERNAL, help="a file, <internal> or material")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    chosen = parse()
    progress = Progress("openings", chosen.count)
    with atomic_write(chosen.file) as part, part.open("w", encoding="utf-8") as file, progress:
        for line in openings(chosen):
            file.write(line + "\n")
            progress.add()


if __name__ == "__main__":
    with one_line("openings", resumes=False):
        main()
