"""Measure perft from the start position in leaves a second; --check compares every count of tests/data/perft.tsv.

    python -m bench.speed.perft [--depth 5] [--check]

Peers were measured with g++ on one core of a 2.6 GHz Zen 5.
"""

import sys
import time

from bench import DATA
from bench.command import new_parser
from bench.table import best_rate, show
from core_ext.board import Board

PEERS = {"cshogi's C++": 194.0, "nshogi": 184.0, "libshogi": 154.0, "apery": 102.0}
AIM = 200.0
START_LEAVES = {1: 30, 2: 900, 3: 25470, 4: 719731, 5: 19861490, 6: 547581517}
COUNTS = DATA / "perft.tsv"


def counted(depth: int) -> int:
    """Count the leaves of the start position; exit if the count is wrong."""
    leaves = Board().perft(depth)
    if leaves != START_LEAVES.get(depth, leaves):
        sys.exit(f"perft {depth} of the start position is {leaves}, not {START_LEAVES[depth]}")
    return leaves


def check() -> None:
    """Check every row of the table and print the speed; exit with status 1 if a count is wrong."""
    lines = COUNTS.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    begin, total, wrong = time.perf_counter(), 0, 0
    for name, sfen, depth, nodes, _ in rows:
        found = Board(sfen).perft(int(depth))
        total += found
        if found != int(nodes):
            wrong += 1
            print(f"{name} depth {depth}: {found}, expected {nodes}")
    seconds = time.perf_counter() - begin
    rate = total / seconds / 1e6
    print(f"{len(rows)} rows, {wrong} wrong; {total} leaves in {seconds:.1f} s, {rate:.0f} million a second")
    sys.exit(1 if wrong else 0)


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="compare every count of tests/data/perft.tsv instead")
    arguments = parser.parse_args()
    if arguments.check:
        check()
    rate = best_rate(lambda: counted(arguments.depth)) / 1e6
    show(f"perft {arguments.depth} from the start position", "leaves", rate, PEERS if arguments.depth == 5 else {}, AIM)


if __name__ == "__main__":
    main()
