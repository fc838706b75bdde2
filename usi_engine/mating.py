"""`go mate`: one checkmate line, from the core's mate solver, or from the plain search where the core has none."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from usi_engine.control import Control
from usi_engine.core import CoreError, Solver
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.protocol import GoMate
from usi_engine.report import Count
from usi_engine.resources import Resources

if TYPE_CHECKING:
    from core_ext.board import Board

# Longer mates than this are beyond what a search that follows quiet moves too can find.
DEEPEST = 40
TICK_SECONDS = 1.0


class Mating:
    """A go mate at work; `run` is the body of its thread and ends with one checkmate line whatever happens."""

    def __init__(self, resources: Resources, options: Options, writer: Writer, control: Control) -> None:
        self._resources = resources
        self._options = options
        self._writer = writer
        self._control = control

    def run(self, go: GoMate, board: Board | None) -> None:
        """Look for a mate by checks in `board` (None: a position we do not know)."""
        status, moves = "unknown", list[str]()
        try:
            if board is not None:
                self._resources.load()
                status, moves = self._solve(go, board)
        except (CoreError, MemoryError) as error:
            self._writer.info(str(error))
        except Exception as error:
            self._writer.info(f"error in mate search: {type(error).__name__}: {error}")
        words = {"mate": " ".join(moves), "nomate": "nomate"}
        self._writer.line(f"checkmate {words.get(status, 'timeout')}")
        self._control.answered()
        self._control.finish()

    def _solve(self, go: GoMate, board: Board) -> tuple[str, list[str]]:
        if not board.checking_moves(include_all=True):
            return "nomate", []
        at_once = board.mate_in_one()
        if at_once:
            return "mate", [at_once]
        core = self._resources.core
        if core.solver is None:
            return self._by_search(go, board)
        solver = core.solver(self._options.number("USI_Hash"), self._resources.stop)
        aim = "shortest" if self._options.flag("MateShortest") else "shorter"
        done = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(solver, done), name="ticker", daemon=True)
        ticker.start()
        try:
            status, moves = solver.solve(board, go.nodes or 0, aim)
        finally:
            done.set()
            ticker.join()
        self._tell(solver.nodes, solver.hashfull, moves)
        return status, moves

    def _tick(self, solver: Solver, done: threading.Event) -> None:
        """An info line each second until `done`."""
        while not done.wait(TICK_SECONDS):
            self._tell(solver.nodes, solver.hashfull, [])

    def _by_search(self, go: GoMate, board: Board) -> tuple[str, list[str]]:
        """A mate found by playing on; it can be missed, so nothing is ever proved mateless."""
        team, core = self._resources.team, self._resources.core
        team.set_root(board, None, self._options)
        for depth in range(1, DEEPEST):
            team.leader.search(depth, -core.infinite, core.infinite, 0, go.nodes or 0)
            if team.leader.stopped:
                break
            best = team.leader.lines(1)[0]
            plies = core.in_plies(best.value)
            if plies is not None and plies == len(best.pv) and mates_by_checks(board, best.pv):
                self._tell(team.nodes, team.table.hashfull(), best.pv)
                return "mate", best.pv
        return "unknown", []

    def _tell(self, nodes: int, hashfull: int, moves: list[str]) -> None:
        count = Count(nodes, self._control.total, hashfull)
        line = f"multipv 1 pv {' '.join(moves)}" if moves else ""
        score = f"score mate {len(moves)} " if moves else ""
        self._writer.line(f"info {score}{count.text()} {line}".rstrip())


def mates_by_checks(board: Board, moves: list[str]) -> bool:
    """Whether the line ends in mate and every move of the side to move gives check on the way."""
    copy = board.copy()
    for number, move in enumerate(moves):
        copy.push(move)
        if number % 2 == 0 and not copy.is_check():
            return False
    return copy.is_check() and not copy.legal_moves(include_all=True)
