"""`go mate`: one checkmate line, from the core's mate solver."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from usi_engine.core import CoreError, text_of
from usi_engine.game.resources import Resources
from usi_engine.search.report import SearchStats
from usi_engine.search.search_control import SearchControl
from usi_engine.usi.options import Options
from usi_engine.usi.output import Writer, repeated
from usi_engine.usi.protocol import GoMate

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import MateSolver

# Seconds between info lines.
INFO_SECONDS = 1.0
# Without a limit, the search for the shortest mate ends after so many times the nodes of the proof, and at least these.
PATIENCE = 10
PATIENCE_NODES = 10_000_000
# The table is no larger than a search of such a length can fill, as each of its pages is cleared at its first use: it
# has 128 bytes, three entries, for a node, at up to a million nodes a second.
SMALLEST_TABLE = 16
MEGABYTES_PER_SECOND = 128
NODES_PER_MEGABYTE = 8192


def table_megabytes(go: GoMate) -> float:
    """The size of table that a mate search of this length can fill; infinite without limits."""
    by_time = math.inf if go.milliseconds is None else go.milliseconds * MEGABYTES_PER_SECOND / 1000
    by_nodes = math.inf if go.nodes is None else go.nodes / NODES_PER_MEGABYTE
    return max(SMALLEST_TABLE, min(by_time, by_nodes))


class Mating:
    """Carries out a go mate; `run` is the body of its thread and always ends with exactly one checkmate line."""

    def __init__(self, resources: Resources, options: Options, writer: Writer, control: SearchControl) -> None:
        self._resources = resources
        self._options = options
        self._writer = writer
        self._control = control
        self._nodes_before = 0

    def run(self, go: GoMate, board: Board | None) -> None:
        """Search for a mate by checks in `board`; None where the last position was refused."""
        status, moves = "unknown", list[str]()
        try:
            if board is not None and not go.faults:
                self._resources.load_in_play()
                status, moves = self._solve(go, board)
        except (CoreError, MemoryError) as error:
            self._writer.info(text_of(error))
        except Exception as error:
            self._writer.info(f"error in mate search: {type(error).__name__}: {error}")
        words = {"mate": " ".join(moves), "nomate": "nomate"}
        self._writer.line(f"checkmate {words.get(status, 'timeout')}")
        self._control.answer_sent()

    def _solve(self, go: GoMate, board: Board) -> tuple[str, list[str]]:
        if not board.checking_moves(include_all=True):
            return "nomate", []
        mate_move = board.mate_in_one()
        if mate_move:
            return "mate", [mate_move]
        return self._prove(self._resources.mate_solver(table_megabytes(go)), go, board)

    def _prove(self, solver: MateSolver, go: GoMate, board: Board) -> tuple[str, list[str]]:
        shortest = self._options.flag("MateShortest")
        with repeated(lambda: self._print_info(solver, []), INFO_SECONDS):
            status, moves = solver.solve(board, go.nodes or 0, "first" if shortest else "shorter")
            if moves and shortest:
                self._print_info(solver, moves)
                moves = self._shorten(solver, go, board, moves)
        self._print_info(solver, moves)
        return status, moves

    def _shorten(self, solver: MateSolver, go: GoMate, board: Board, first: list[str]) -> list[str]:
        """The line of the shortest mate; the first one where the limits end the search for it."""
        self._nodes_before, limit = solver.nodes, 0
        if go.nodes:
            limit = max(go.nodes - solver.nodes, 1)
        elif go.milliseconds is None:
            limit = max(PATIENCE * solver.nodes, PATIENCE_NODES)
        status, moves = solver.solve(board, limit, "shortest")
        return moves if status == "mate" and len(moves) < len(first) else first

    def _print_info(self, solver: MateSolver, moves: list[str]) -> None:
        stats = SearchStats(self._nodes_before + solver.nodes, self._control.total, solver.hashfull)
        pv = f"multipv 1 pv {' '.join(moves)}" if moves else ""
        score = f"score mate {len(moves)} " if moves else ""
        self._writer.line(f"info {score}{stats.text()} {pv}".rstrip())
