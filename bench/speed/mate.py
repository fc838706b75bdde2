"""Mate problems by length: solved, wrong, nodes and time, beside cshogi's DfPn on the same problems.

    python -m bench.speed.mate [FILE]         length, sfen and a solution a line (tests/data/mate_problems.tsv)
    python -m bench.speed.mate --without      1,500 seeded positions in which cshogi's solver finds no mate

`nodes` counts all positions that the solver set up, `expanded` those whose moves it generated. cshogi counts the
latter, less those that its short mate search solves. `first` is the time of the first proof and its line, `shortest`
what proving the shortest mate takes after that. Times are processor time of the thread, independent of other
programs.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import MATE_PROBLEMS
from bench.table import print_table
from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from usi_engine.mate.problems import mates_by_checks

MEGABYTES = 1
LIMIT = 1_000_000
HEADER = (
    "length", "count", "solved", "wrong", "equal", "nodes", "expanded", "first s", "shortest s",
    "cshogi: solved", "nodes", "s",
)  # fmt: skip


@dataclass
class Row:
    """What happened to the problems of one length."""

    count: int = 0
    solved: int = 0
    equal: int = 0
    wrong: int = 0
    nodes: int = 0
    expanded: int = 0
    times: list[float] = field(default_factory=list)
    shortest_time: float = 0.0
    peer_solved: int = 0
    peer_nodes: int = 0
    peer_time: float = 0.0

    def figures(self) -> tuple[object, ...]:
        """The columns after the length."""
        ours = (self.count, self.solved, self.wrong, self.equal, self.nodes, self.expanded)
        peers = (self.peer_solved, self.peer_nodes, f"{self.peer_time:.4f}")
        return (*ours, f"{sum(self.times):.4f}", f"{self.shortest_time:.4f}", *peers)


def read(path: Path) -> Iterator[tuple[int, str]]:
    """Length and sfen of each problem. ValueError quotes a line that is none."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            fields = line.split("\t")
            if len(fields) != 3 or not fields[0].isdecimal():
                raise ValueError(f"not a length, an sfen and a solution: '{line[:60]}'")
            yield int(fields[0]), fields[1]


def first_proof(row: Row, board: Board, solver: MateSolver) -> None:
    """The proof alone: its nodes and time."""
    solver.clear()
    begun = time.thread_time()
    status, _ = solver.solve(board, LIMIT, "first")
    row.times.append(time.thread_time() - begun)
    row.nodes += solver.nodes
    row.expanded += solver.expanded
    row.solved += status == "mate"


def peer_proof(row: Row, peer: Any, sfen: str) -> None:
    """The proof of cshogi's solver: its nodes and time."""
    import cshogi  # noqa: PLC0415  (optional)

    board = cshogi.Board(sfen)
    begun = time.thread_time()
    found = peer.search(board)
    row.peer_time += time.thread_time() - begun
    row.peer_solved += bool(found)
    row.peer_nodes += peer.searched_node


def shortest_line(row: Row, board: Board, solver: MateSolver, length: int) -> None:
    """Prove the shortest mate, and check its line and length."""
    begun = time.thread_time()
    status, line = solver.solve(board, 0, "shortest")
    row.shortest_time += time.thread_time() - begun
    row.wrong += status != "mate" or not mates_by_checks(board, line)
    row.equal += len(line) == length
    if len(line) != length:
        print(f"{length} plies in the file, {len(line)} here: {board.sfen()} {' '.join(line)}")


def measure(path: Path) -> tuple[dict[int, Row], int]:
    """The rows by length, and how many problems are no legal positions."""
    import cshogi  # noqa: PLC0415  (optional)

    rows: dict[int, Row] = defaultdict(Row)
    refused = 0
    peer, solver = cshogi.DfPn(31, LIMIT, 1000), MateSolver(MEGABYTES, StopToken(), True)
    for length, sfen in read(path):
        try:
            board = Board(sfen)
        except ValueError:
            refused += 1
            continue
        row = rows[length]
        row.count += 1
        first_proof(row, board, solver)
        peer_proof(row, peer, sfen)
        shortest_line(row, board, solver, length)
    return rows, refused


def show(rows: dict[int, Row], refused: int) -> None:
    """The table, then the totals."""
    print_table(HEADER, [(length, *row.figures()) for length, row in sorted(rows.items())])
    times = [seconds for row in rows.values() for seconds in row.times]
    nodes, peer_nodes = (sum(getattr(row, name) for row in rows.values()) for name in ("nodes", "peer_nodes"))
    ours, peers = sum(times), sum(row.peer_time for row in rows.values())
    print(f"median {statistics.median(times) * 1e6:.0f} us, total {ours:.3f} s; {refused} problems are no positions")
    print(
        f"ours {len(times) / ours:.0f} problems/s, {nodes / ours:.0f} nodes/s; "
        f"cshogi {len(times) / peers:.0f} problems/s, {peer_nodes / peers:.0f} nodes/s"
    )


def without_mate(count: int, seed: int) -> Iterator[Board]:
    """Positions of random games with checks, in which cshogi's solver finds no mate."""
    import cshogi  # noqa: PLC0415  (optional)

    rng, peer = random.Random(seed), cshogi.DfPn(31, 50_000, 1000)
    while count:
        board = Board()
        for _ in range(rng.randint(30, 160)):
            moves = board.legal_moves()
            if not moves:
                break
            board.push(rng.choice(moves))
        if board.checking_moves(include_all=True) and not peer.search(cshogi.Board(board.sfen())):
            count -= 1
            yield board


def survives(solver: MateSolver, board: Board, seen: dict[int, bool]) -> bool:
    """Whether some evasion refutes the mate that the solver reports, or its proof repeats a position."""
    if board.key in seen:
        return seen[board.key]
    seen[board.key] = True
    status, line = solver.solve(board)
    if status != "mate" or not board.gives_check(line[0]):
        return True
    board.push(line[0])
    for answer in board.legal_moves(include_all=True):
        board.push(answer)
        escaped = survives(solver, board, seen)
        board.pop()
        if escaped:
            board.pop()
            return True
    board.pop()
    seen[board.key] = False
    return False


def check_without() -> int:
    """Solve the positions in which cshogi finds no mate; returns 1 where a mate was false."""
    solver, statuses, false_mates = MateSolver(MEGABYTES, StopToken()), Counter[str](), 0
    spent = 0.0
    for board in without_mate(1500, 1973):
        begun = time.thread_time()
        status, line = solver.solve(board, 200_000)
        spent += time.thread_time() - begun
        statuses[status] += 1
        if status == "mate":
            wrong = survives(solver, board, {})
            false_mates += wrong
            print(f"cshogi found no mate, here one in {len(line)}, {'FALSE' if wrong else 'holds'}: {board.sfen()}")
    print(f"{dict(statuses)} in {spent:.1f} s; false mates: {false_mates}")
    return int(false_mates > 0)


def main() -> int:
    """The command line; the status is 1 where an answer was wrong."""
    parser = argparse.ArgumentParser("python -m bench.speed.mate", description="Mate problems beside cshogi's DfPn.")
    parser.add_argument("file", nargs="?", type=Path, default=MATE_PROBLEMS, help="length, sfen and a solution a line")
    parser.add_argument("--without", action="store_true", help="positions in which cshogi finds no mate instead")
    chosen = parser.parse_args()
    if chosen.without:
        return check_without()
    try:
        rows, refused = measure(chosen.file)
    except (OSError, ValueError) as error:
        print(f"{chosen.file}: {error}", file=sys.stderr)
        return 1
    if not rows:
        print(f"{chosen.file}: no problem", file=sys.stderr)
        return 1
    show(rows, refused)
    return int(any(row.wrong for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
