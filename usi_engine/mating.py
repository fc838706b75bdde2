"""`go mate`: one checkmate line, from the core's mate solver."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from usi_engine.core import CoreError
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.protocol import GoMate
from usi_engine.report import Count
from usi_engine.resources import Resources
from usi_engine.search_control import SearchControl

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import MateSolver

INFO_SECONDS = 1.0


class Mating:
    """Carries out a go mate; `run` is the body of its thread and always ends with exactly one checkmate line."""

    def __init__(self, resources: Resources, options: Options, writer: Writer, control: SearchControl) -> None:
        self._resources = resources
        self._options = options
        self._writer = writer
        self._control = control

    def run(self, go: GoMate, board: Board | None) -> None:
        """Search a mate by checks in `board`; None where the last position was refused."""
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
        self._control.answer_sent()
        self._control.finish()

    def _solve(self, go: GoMate, board: Board) -> tuple[str, list[str]]:
        if not board.checking_moves(include_all=True):
            return "nomate", []
        mate_move = board.mate_in_one()
        if mate_move:
            return "mate", [mate_move]
        core, megabytes = self._resources.core, self._options.number("USI_Hash")
        return self._prove(core.mate_solver(megabytes, self._resources.stop), go, board)

    def _prove(self, solver: MateSolver, go: GoMate, board: Board) -> tuple[str, list[str]]:
        aim = "shortest" if self._options.flag("MateShortest") else "shorter"
        done = threading.Event()
        ticker = threading.Thread(target=self._report, args=(solver, done), name="ticker", daemon=True)
        ticker.start()
        try:
            status, moves = solver.solve(board, go.nodes or 0, aim)
        finally:
            done.set()
            ticker.join()
        self._print_info(solver, moves)
        return status, moves

    def _report(self, solver: MateSolver, done: threading.Event) -> None:
        """Print an info line each second until `done`."""
        while not done.wait(INFO_SECONDS):
            self._print_info(solver, [])

    def _print_info(self, solver: MateSolver, moves: list[str]) -> None:
        count = Count(solver.nodes, self._control.total, solver.hashfull)
        line = f"multipv 1 pv {' '.join(moves)}" if moves else ""
        score = f"score mate {len(moves)} " if moves else ""
        self._writer.line(f"info {score}{count.text()} {line}".rstrip())
