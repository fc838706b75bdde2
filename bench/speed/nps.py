"""Measure nodes a second of the search at the start, 22 plies later, and in a position with 207 moves.

    python -m bench.speed.nps [--nodes 5000000] [--hash 256] [--network FILE]

Uses one thread and a cleared table, and piece values if no network is given. Peers searched the same positions on one
core of a 2.6 GHz Zen 5.
"""

from bench.command import new_parser, one_line
from bench.table import best_rate, show
from core_ext.board import Board
from core_ext.engine import MAX_DEPTH, Evaluation, StopToken, Table, Worker
from usi_engine.evaluation.load import load_evaluation
from usi_engine.search.iterative import iterative_deepening
from usi_engine.usi.arguments import whole

CASES: dict[str, tuple[str, dict[str, float], float]] = {
    "start position": (
        Board().sfen(),
        {"YaneuraOu 9.70 material": 1.74, "YaneuraOu KPPT": 1.10, "GPSShogi": 0.48, "Fairy-Stockfish": 0.47},
        1.7,
    ),
    "22 plies later": ("ln1g1k1nl/1r3sgb1/p2psp1pp/2p3p2/1p2p4/2PPP2P1/PPSG1PP1P/1BG2S1R1/LN1K3NL b - 23", {}, 1.5),
    "207 moves": (
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        {"YaneuraOu 9.70 material": 1.27, "YaneuraOu KPPT": 0.79},
        1.2,
    ),
}
# Peers and aims for a network K+P 256x2-32-32.
NETWORK_CASES: dict[str, tuple[dict[str, float], float]] = {
    "start position": ({"YaneuraOu NNUE K-P 256": 1.40}, 1.6),
    "22 plies later": ({}, 1.4),
    "207 moves": ({"YaneuraOu NNUE K-P 256": 1.24}, 1.3),
}


def measure(sfen: str, nodes: int, megabytes: int, weights: Evaluation | None = None) -> float:
    """Return nodes a second of an iterative search of `nodes` nodes; without weights it uses piece values."""
    table, board = Table(megabytes), Board(sfen)
    worker = Worker(table, StopToken(), weights)

    def prepare() -> None:
        table.clear()
        worker.new_game()
        worker.set_root(board)

    def deepen() -> int:
        for _ in iterative_deepening(worker, MAX_DEPTH, nodes, aspiration=False):
            pass
        return worker.nodes

    return best_rate(deepen, 3, prepare)


@one_line("nps", resumes=False)
def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument("--nodes", type=whole(1), default=5_000_000)
    parser.add_argument("--hash", type=whole(1), default=256)
    parser.add_argument("--network", metavar="FILE")
    arguments = parser.parse_args()
    weights = load_evaluation(arguments.network) if arguments.network else None
    for title, (sfen, *_) in CASES.items():
        peers, aim = CASES[title][1:] if weights is None else NETWORK_CASES[title]
        rate = measure(sfen, arguments.nodes, arguments.hash, weights)
        show(f"search, {title}", "nodes", rate / 1e6, peers, aim)


if __name__ == "__main__":
    main()
