"""A core with a scripted search: a test sets values, moves and times. The board is real."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from core_ext.board import Board
from core_ext.engine import INFINITE, MATE, StopToken
from usi_engine.core import Core

POLL_SECONDS = 0.0005


@dataclass
class Script:
    """The scripted search: value and number of the best root move at each depth, and how long a depth takes."""

    value: Callable[[int], int] = lambda depth: 10 + depth
    best: Callable[[int], int] = lambda depth: 0
    seconds: Callable[[int], float] = lambda depth: 0.0005 * depth
    stuck: tuple[int, int] | None = None  # depth and number of the line whose search never ends
    pv_length: int = 3
    load_seconds: float = 0.0
    clear_seconds: float = 0.0
    touch_seconds: float = 0.0  # for each part
    most_megabytes: int = 1 << 20
    most_workers: int = 1 << 20
    solvers: bool = True
    solution: tuple[str, list[str]] = ("unknown", [])
    solve_seconds: float = 0.2  # for the first mate
    shorten_seconds: float = 0.0  # for the shortest
    shortest: list[str] = field(default_factory=list)  # if it differs from the solution
    windows: list[tuple[int, int, int, int]] = field(default_factory=list)
    cleared: set[tuple[int, int]] = field(default_factory=set)  # part and number of parts
    touched: list[tuple[int, int, int]] = field(default_factory=list)  # the same and the thread
    solved: list[str] = field(default_factory=list)  # aims of the mate solver's calls; node limits follow
    solved_within: list[int] = field(default_factory=list)
    constants: dict[str, int] = field(default_factory=dict)  # tunables
    made: dict[str, int] = field(default_factory=lambda: {"tables": 0, "workers": 0, "cleared": 0, "new_games": 0})
    configured: dict[str, Any] = field(default_factory=dict)
    crash: bool = False


@dataclass
class RootLine:
    """A root move with the result of its last search."""

    pv: list[str]
    value: int = -INFINITE
    previous: int = -INFINITE
    bound: str = "exact"
    seldepth: int = 0
    nodes: int = 0


def stopped_within(stop: StopToken, seconds: float) -> bool:
    """Wait; return True at once if the token is set."""
    end = time.monotonic() + seconds
    while not stop.is_set():
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(left, POLL_SECONDS))
    return True


class ScriptedTable:
    """A table without entries that counts its calls."""

    def __init__(self, script: Script, megabytes: int) -> None:
        time.sleep(script.load_seconds)
        if megabytes > script.most_megabytes:
            raise MemoryError(f"{megabytes} MB do not fit")
        self.script, self.megabytes = script, megabytes
        script.made["tables"] += 1

    def clear(self, part: int = 0, parts: int = 1) -> None:
        time.sleep(self.script.clear_seconds / parts)
        self.script.made["cleared"] += part == 0
        self.script.cleared.add((part, parts))

    def touch(self, part: int, parts: int) -> None:
        time.sleep(self.script.touch_seconds)
        self.script.touched.append((part, parts, threading.get_ident()))

    def new_search(self) -> None:
        """Do nothing."""

    def hashfull(self) -> int:
        return 1


class ScriptedWorker:
    """Searches with the times and values of the script."""

    def __init__(
        self, script: Script, table: ScriptedTable, stop: StopToken, weights: object = None, lazy: bool = False
    ) -> None:
        self.script, self.stop, self.nodes, self.seldepth, self.stopped = script, stop, 0, 0, False
        self.root: list[RootLine] = []
        if script.made["workers"] >= script.most_workers:
            raise MemoryError
        script.made["workers"] += 1

    def new_game(self) -> None:
        self.script.made["new_games"] += 1

    def configure(self, **settings: Any) -> None:
        self.script.configured = settings

    def set_root(self, board: Board, moves: Sequence[str] | None = None) -> int:
        self.board, self.nodes, self.reached = board.copy(), 0, 0
        legal = board.legal_moves(include_all=bool(self.script.configured.get("include_all")))
        self.root = [RootLine([move]) for move in legal if moves is None or move in moves]
        mate = board.mate_in_one()
        self.mate = mate if mate in [line.pv[0] for line in self.root] else None
        return len(self.root)

    def search(self, depth: int, alpha: int, beta: int, first: int = 0, node_limit: int = 0) -> int:
        if self.script.crash:
            raise RuntimeError("as the script says")
        self.script.windows.append((depth, alpha, beta, first))
        for line in self.root[first:]:
            line.previous, line.value = line.value, -INFINITE
        self.reached = max(self.reached, depth)
        self.seldepth = depth + 2
        self.nodes += 100 * depth
        too_many = bool(node_limit and self.nodes >= node_limit)
        seconds = 30.0 if self.script.stuck == (depth, first) else self.script.seconds(depth)
        self.stopped = stopped_within(self.stop, seconds) or too_many
        return 0 if self.stopped else self.finish(depth, alpha, beta, first)

    def finish(self, depth: int, alpha: int, beta: int, first: int) -> int:
        # A search to less depth finds the same again, as from a TT.
        value = MATE - 1 if self.mate and first == 0 else self.script.value(self.reached) - 50 * first
        if first == 0:
            best = self.mate or self.root_move(self.script.best(depth))
            self.root.sort(key=lambda line: line.pv[0] != best)
        line = self.root[first]
        bound = "upper" if value <= alpha else "lower" if value >= beta else "exact"
        line.value, line.bound, line.seldepth = max(min(value, beta), alpha), bound, depth + 2
        line.pv = self.continuation(line.pv[0])
        return line.value

    def root_move(self, number: int) -> str:
        return sorted(line.pv[0] for line in self.root)[number % len(self.root)]

    def continuation(self, move: str) -> list[str]:
        board, pv = self.board.copy(), [move]
        board.push(move)
        while len(pv) < self.script.pv_length and (replies := board.legal_moves()):
            board.push(replies[0])
            pv.append(replies[0])
        return pv

    def lines(self, count: int = 1) -> list[RootLine]:
        return self.root[:count]

    def evaluate(self, board: Board) -> list[tuple[str, int]]:
        return [("material", 7), ("total", 7)]


class ScriptedSolver:
    """A mate solver with the script's solution."""

    def __init__(
        self, script: Script, megabytes: int, stop: StopToken, count_all_interpositions: bool = False, threads: int = 1
    ) -> None:
        self.script, self.stop, self.nodes, self.hashfull, self.threads = script, stop, 1234, 5, threads
        self.proved_shortest = False
        if not script.solvers or megabytes > script.most_megabytes:
            raise MemoryError(f"no memory for a mate table of {megabytes} MB")

    def clear(self) -> None:
        """Do nothing."""

    def solve(self, board: Board, node_limit: int = 0, aim: str = "short") -> tuple[str, list[str]]:
        self.script.solved.append(aim)
        self.script.solved_within.append(node_limit)
        seconds = self.script.shorten_seconds if aim == "shortest" else self.script.solve_seconds
        stopped = stopped_within(self.stop, seconds)
        if stopped:
            return "unknown", []
        return ("mate", self.script.shortest) if aim == "shortest" and self.script.shortest else self.script.solution


def make_core(script: Script) -> Core:
    """Return a Core that follows this script."""
    types = {"worker": ScriptedWorker, "table": ScriptedTable, "mate_solver": ScriptedSolver}
    scripted: Any = {name: partial(kind, script) for name, kind in types.items()}
    return Core(board=Board, stop_token=StopToken, set_tunable=script.constants.__setitem__, **scripted)
