"""Measure evaluations a second of a network in one thread, after every legal move of each position of random lines.

    python -m bench.speed.nnue [FILE ...] [--seconds 2]

Evaluates each position incrementally from the one before, as a search does, and subtracts the time to make the moves.
Without files it uses random networks of the usual sizes; the time does not depend on the weights. The fastest of many
short runs counts, because other programs can only slow a run down.
"""

import time
from pathlib import Path

import numpy as np

from bench.command import new_parser, one_line
from bench.speed.nps import CASES
from core_ext._nnue_probe import TimedLine
from core_ext.engine import Network
from core_ext.eval.nnue.network import INSTRUCTIONS
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.load import load_network
from usi_engine.evaluation.network_file import layer_shapes, pack_dense
from usi_engine.usi.options import FV_SCALE

NAMES = [
    "NNUE_kp_256x2_32_32",
    "NNUE_halfkp_256x2_32_32",
    "NNUE_kp_1024x2_64_64",
    "SFNN_ka2_1024_7_64_k3k3",
    "SFNN_halfka2_1024_7_64_k3k3",
    "SFNN_halfkahm2_1536_15_32_k3k3",
]
LINES = 4


def random_network(name: str) -> Network:
    """Return a network with random weights, about as large as trained ones."""
    architecture, rng = parse_name(name), np.random.default_rng(1)
    weight = rng.integers(-40, 41, (architecture.feature_count, architecture.width), np.int16)
    stack = [(rng.integers(-8000, 8001, outputs, np.int32), rng.integers(-40, 41, (outputs, inputs), np.int8))
             for outputs, inputs in layer_shapes(architecture)]  # fmt: skip
    dense = pack_dense(architecture, architecture.stacks * [stack])
    return Network(architecture, weight[0].copy(), weight, dense, None, FV_SCALE)


def best_time(line: TimedLine, evaluated: bool, seconds: float) -> float:
    """Return nanoseconds a position of the fastest run."""
    end, best = time.perf_counter() + seconds, float("inf")
    while time.perf_counter() < end:
        begun = time.perf_counter()
        line.play(3, evaluated)
        best = min(best, (time.perf_counter() - begun) / 3)
    return best / line.positions * 1e9


def measure(network: Network, sfen: str, seconds: float) -> float:
    """Return nanoseconds an evaluation, averaged over several lines from a position."""
    lines = [TimedLine(network, sfen, seed) for seed in range(LINES)]
    share = seconds / LINES / 2
    return sum(best_time(line, True, share) - best_time(line, False, share) for line in lines) / LINES


@one_line("nnue", resumes=False)
def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=2.0)
    chosen = parser.parse_args()
    networks = {file: load_network(Path(file), FV_SCALE) for file in chosen.files}
    if not networks:
        networks = {name: random_network(name) for name in NAMES}
    print(f"kernels: {INSTRUCTIONS}")
    for name, network in networks.items():
        for case, (sfen, *_) in CASES.items():
            spent = measure(network, sfen, chosen.seconds)
            print(f"{name}, {case}: {spent:.0f} ns an evaluation, {1e3 / spent:.2f} million a second")


if __name__ == "__main__":
    main()
