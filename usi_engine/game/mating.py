"""One go mate: the core's mate solver, and exactly one checkmate line."""

from usi_engine.core import Board, MateSolver, sentence_of
from usi_engine.game.thinking import count_text
from usi_engine.search.resources import Resources
from usi_engine.search.search_control import SearchControl
from usi_engine.usi.output import Writer, repeated
from usi_engine.usi.protocol import GoMate

# Seconds between info lines.
INFO_SECONDS = 1.0
# Node limit of the search for the shortest mate if the go has no limit: a multiple of the first mate's nodes.
SHORTEST_MATE_FACTOR = 10
MIN_SHORTEST_MATE_NODES = 10_000_000


class Mating:
    """One go mate. `run` is the body of its job and always ends with exactly one checkmate line.

    `aim`: that of MateSolver.solve. For the shortest mate the first one is printed as soon as it is found.
    """

    def __init__(self, resources: Resources, writer: Writer, control: SearchControl, go: GoMate, aim: str) -> None:
        self._resources = resources
        self._writer = writer
        self._control = control
        self._go, self._aim = go, aim
        self._nodes_before = 0

    def run(self, board: Board | None) -> None:
        """Search for a mate by checks; without a position, or if a limit was refused, answer `timeout`."""
        status, moves = "unknown", list[str]()
        try:
            if board is not None and not self._go.faults:
                self._resources.load_in_play()
                status, moves = self._solve(board)
        except Exception as error:
            self._writer.info(sentence_of(error, "error in mate search"))
        words = {"mate": " ".join(moves), "nomate": "nomate"}
        self._writer.line(f"checkmate {words.get(status, 'timeout')}")
        self._control.answer_sent()

    def _solve(self, board: Board) -> tuple[str, list[str]]:
        if not board.checking_moves(include_all=True):
            return "nomate", []
        mate_move = board.mate_in_one()
        if mate_move:
            return "mate", [mate_move]
        return self._prove(self._resources.mate_solver(), board)

    def _prove(self, solver: MateSolver, board: Board) -> tuple[str, list[str]]:
        with repeated(lambda: self._print_info(solver, []), INFO_SECONDS):
            shortest = self._aim == "shortest"
            status, moves = solver.solve(board, self._go.nodes or 0, "first" if shortest else self._aim)
            if moves and shortest:
                self._print_info(solver, moves)
                moves = self._shorten(solver, board, moves)
        self._print_info(solver, moves)
        return status, moves

    def _shorten(self, solver: MateSolver, board: Board, first: list[str]) -> list[str]:
        """Return the line of the shortest mate, or of the shortest one found before a limit ends the search."""
        self._nodes_before, limit = solver.nodes, 0
        if self._go.nodes:
            limit = max(self._go.nodes - solver.nodes, 1)
        elif self._go.milliseconds is None:
            limit = max(SHORTEST_MATE_FACTOR * solver.nodes, MIN_SHORTEST_MATE_NODES)
        status, moves = solver.solve(board, limit, "shortest")
        better = status == "mate" and (solver.proved_shortest or len(moves) < len(first))
        return moves if better else first

    def _print_info(self, solver: MateSolver, moves: list[str]) -> None:
        counts = count_text(self._nodes_before + solver.nodes, self._control.total, solver.hashfull)
        pv = f" multipv 1 pv {' '.join(moves)}" if moves else ""
        score = f"score mate {len(moves)} " if moves else ""
        self._writer.line(f"info {score}{counts}{pv}")
