"""Legal move generations a second in positions of 207 and 593 moves, timed around a loop inside the core.

    python -m bench.speed.movegen

Peers: measured with g++ on one core of a 2.6 GHz Zen 5.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

from bench.table import best_rate, show
from core_ext._probe import Probe


class Case(NamedTuple):
    """A position with its number of legal moves; rates in million calls a second."""

    title: str
    sfen: str
    moves: int
    aim: float
    peers: dict[str, float]


CASES = [
    Case(
        "legal generation, 207 moves",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        207,
        7.0,
        {"nshogi": 7.1, "libshogi": 5.4, "cshogi's C++": 4.4, "apery": 2.8},
    ),
    Case(
        "legal generation, 593 moves",
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
        593,
        4.3,
        {"nshogi": 4.3},
    ),
]
CALLS = 1_000_000


def measure(case: Case) -> float:
    """Million calls a second."""
    probe = Probe(case.sfen)

    def work() -> int:
        if probe.time_legal(CALLS) != CALLS * case.moves:
            sys.exit(f"{case.title}: other than {case.moves} moves")
        return CALLS

    return best_rate(work) / 1e6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    for case in CASES:
        show(case.title, "calls", measure(case), case.peers, case.aim)


if __name__ == "__main__":
    main()
