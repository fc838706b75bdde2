"""Solve mate problems and count nodes and time by length, beside cshogi's DfPn on the same problems.

    python -m bench.speed.mate [FILE]    lines of length, sfen and a solution (tests/data/mate_problems.tsv)

`nodes` counts all positions that the solver visits, `expanded` those whose moves it generates. cshogi counts expanded
nodes, without those that its short mate search solves. `first` is the time of the first proof and its line, `shortest`
the further time to prove the shortest mate. Times are processor time of the thread.
"""

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from bench import MATE_PROBLEMS
from bench.command import new_parser
from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from usi_engine.api.mate_lines import after_checks
from usi_engine.match.report import print_table

MEGABYTES = 1
LIMIT = 1_000_000
COLUMNS = (
    "count", "solved", "wrong", "equal", "nodes", "expanded", "first s", "shortest s",
    "cshogi: solved", "cshogi: nodes", "cshogi: s",
)  # fmt: skip

T = TypeVar("T")
Row = tuple[float, ...]  # a number for each column


def read(path: Path) -> Iterator[tuple[int, str]]:
    """Yield length and sfen of each problem. Raises ValueError, which quotes a line that is not a problem."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != 3 or not fields[0].isdecimal():
                raise ValueError(f"not a length, an sfen and a solution: '{line[:60]}'")
            yield int(fields[0]), fields[1]


def mates_by_checks(board: Board, moves: list[str]) -> bool:
    """Return True if every move of the first side checks and the last one mates."""
    end = after_checks(board, moves)
    return end is not None and not end.legal_moves(include_all=True)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    begun = time.thread_time()
    return work(), time.thread_time() - begun


def solve(board: Board, length: int, solver: MateSolver, peer: Any, peer_board: Any) -> Row:
    """Solve a problem with both solvers; print it if its length differs from the file."""
    solver.clear()
    (status, _), first = timed(lambda: solver.solve(board, LIMIT, "first"))
    nodes, expanded = solver.nodes, solver.expanded
    (shortest, line), further = timed(lambda: solver.solve(board, 0, "shortest"))
    found, peer_time = timed(lambda: peer.search(peer_board))
    if len(line) != length:
        print(f"{length} plies in the file, {len(line)} here: {board.sfen()} {' '.join(line)}")
    wrong = shortest != "mate" or not mates_by_checks(board, line)
    ours = (1, status == "mate", wrong, len(line) == length, nodes, expanded, first, further)
    return *ours, bool(found), peer.searched_node, peer_time


def measure(path: Path) -> tuple[dict[int, list[Row]], int]:
    """Return the results by length and the number of problems whose position is illegal."""
    import cshogi  # noqa: PLC0415  (optional)

    rows: dict[int, list[Row]] = defaultdict(list)
    refused = 0
    peer, solver = cshogi.DfPn(31, LIMIT, 1000), MateSolver(MEGABYTES, StopToken(), True)
    for length, sfen in read(path):
        try:
            board = Board(sfen)
        except ValueError:
            refused += 1
            continue
        rows[length].append(solve(board, length, solver, peer, cshogi.Board(sfen)))
    return rows, refused


def show(rows: dict[int, list[Row]], refused: int) -> None:
    """Print the table and the totals."""
    sums = [(length, *map(sum, zip(*found, strict=True))) for length, found in sorted(rows.items())]
    print_table(("length", *COLUMNS), [[f"{x:.4f}" if isinstance(x, float) else x for x in row] for row in sums])
    every = [row for found in rows.values() for row in found]
    total = dict(zip(COLUMNS, map(sum, zip(*every, strict=True)), strict=True))
    median = statistics.median(row[COLUMNS.index("first s")] for row in every)
    print(f"median {median * 1e6:.0f} us, total {total['first s']:.3f} s; {refused} problems with an illegal position")
    for name, nodes, seconds in (("ours", "nodes", "first s"), ("cshogi", "cshogi: nodes", "cshogi: s")):
        print(f"{name}: {len(every) / total[seconds]:.0f} problems/s, {total[nodes] / total[seconds]:.0f} nodes/s")


def main() -> int:
    """Measure; return exit status 1 if an answer was wrong."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, default=MATE_PROBLEMS, help="lines of length, sfen and a solution"
    )
    file = parser.parse_args().file
    try:
        rows, refused = measure(file)
        if not rows:
            raise ValueError("no problem")
    except (OSError, ValueError) as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 1
    show(rows, refused)
    return int(any(row[COLUMNS.index("wrong")] for found in rows.values() for row in found))


if __name__ == "__main__":
    sys.exit(main())
