"""Nodes a second of the search with KPP weights and with material values.

    python -m bench.speed.evaluate [--nodes 5000000] [--hash 256] [--weights FILE]

One thread, a cleared table. Peers: at the same positions on one core of a 2.6 GHz Zen 5. The two evaluations search
different trees, so the positions a second that a random walk evaluates incrementally are printed too; every such
value is checked against a full sum.
"""

from __future__ import annotations

import argparse
import time

from bench.command import one_line
from bench.speed.nps import CASES, measure
from bench.table import show
from core_ext._probe import walk_evaluator
from usi_engine.evaluation.kpp_file import load_weights
from usi_engine.evaluation.names import KPP
from usi_engine.usi.arguments import whole

AIMS = {"start position": 1.2, "207 moves": 0.9}


@one_line("evaluate", resumes=False)
def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=whole(1), default=5_000_000)
    parser.add_argument("--hash", type=whole(1), default=256)
    parser.add_argument("--weights", default=KPP)
    chosen = parser.parse_args()
    begun = time.perf_counter()
    weights = load_weights(chosen.weights)
    print(f"weights loaded and unfolded in {time.perf_counter() - begun:.2f} s")
    for name, (sfen, peers, _) in CASES.items():
        rates = [measure(sfen, chosen.nodes, chosen.hash, kind) / 1e6 for kind in (weights, None)]
        show(name, "nodes", rates[0], {**peers, "Komadori, material": rates[1]}, AIMS[name])
        begun = time.perf_counter()
        found = walk_evaluator(weights, sfen, 1, 100_000)
        seconds = time.perf_counter() - begun
        rate = found["evaluated"] / seconds / 1e6
        print(f"  random walk: {rate:.2f} million values a second, {found['wrong']} wrong")


if __name__ == "__main__":
    main()
