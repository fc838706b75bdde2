"""Measure legal move generations a second in positions of 207 and 593 moves, in a loop inside the core.

    python -m bench.speed.movegen

Peers were measured with g++ on one core of a 2.6 GHz Zen 5.
"""

import sys
from typing import NamedTuple

from bench.command import new_parser
from bench.table import best_rate, show
from core_ext._probe import Probe


class Case(NamedTuple):
    """Position with its number of legal moves; rates are in million calls a second."""

    sfen: str
    moves: int
    aim: float
    peers: dict[str, float]


CROWDED = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"
MOST_MOVES = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"
CASES = [
    Case(CROWDED, 207, 7.0, {"nshogi": 7.1, "libshogi": 5.4, "cshogi's C++": 4.4, "apery": 2.8}),
    Case(MOST_MOVES, 593, 4.3, {"nshogi": 4.3}),
]
CALLS = 1_000_000


def measure(case: Case) -> float:
    """Return million calls a second."""
    probe = Probe(case.sfen)

    def work() -> int:
        if probe.time_legal(CALLS) != CALLS * case.moves:
            sys.exit(f"not {case.moves} moves: {case.sfen}")
        return CALLS

    return best_rate(work) / 1e6


def main() -> None:
    new_parser(__doc__).parse_args()
    for case in CASES:
        show(f"legal generation, {case.moves} moves", "calls", measure(case), case.peers, case.aim)


if __name__ == "__main__":
    main()
