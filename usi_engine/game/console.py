"""Commands besides those of USI: `d`, `moves`, `checks`, `side`, `sfen`, `key`, `eval`, `perft` and `help`."""

import time
from collections.abc import Callable, Iterator

from usi_engine.core import Board, Worker

# Result of a perft or bench that was stopped.
STOPPED = "info string stopped"
# Plies that perft counts between checks for a stop: milliseconds, or up to two seconds in positions with many moves.
PERFT_PART = 3

# For a person at a terminal; 7-bit ASCII.
HELP_LINES = (
    "position startpos [moves 7g7f ...]   or position sfen SFEN [moves ...]: set up a position",
    "go btime MS wtime MS byoyomi MS      think with these clocks and answer with a move",
    "go movetime MS | depth N | nodes N   think within a limit; go infinite: until stop",
    "go mate infinite | MS | nodes N      look for a mate",
    "stop                                 end the search",
    "usi                                  list the options; setoption name NAME value VALUE: set one",
    "getoption [NAME]                     show values of options",
    "d, sfen, key, side                   show the position",
    "moves, checks                        list legal moves; those that give check",
    "eval                                 show the static value",
    "perft N, bench                       count leaf nodes; measure the speed",
    "quit                                 end the program",
    "To play a game in the terminal: usi_engine play. All commands: docs/usi.md",
)


def board_lines(board: Board) -> list[str]:
    """Return board and hands in ASCII, then sfen, key, checkers."""
    checkers = " ".join(board.checkers())
    tail = [f"sfen {board.sfen()}", f"key {board.key:016x}", f"checkers {checkers}".rstrip()]
    return board.ascii().rstrip("\n").split("\n") + tail


def eval_lines(worker: Worker, board: Board) -> list[str]:
    """Return the terms of the static value in centipawns for the side to move, last `total V`."""
    return [f"{name} {value}" for name, value in worker.evaluate(board)]


def perft(board: Board, depth: int, stopped: Callable[[], bool]) -> Iterator[str]:
    """Yield a line for each root move as soon as it is counted, then the sum. `board` is restored."""
    begun = time.perf_counter()
    total = 0
    for move in board.legal_moves(include_all=True):
        board.push(move)
        count = count_leaves(board, depth - 1, stopped)
        board.pop()
        if stopped():
            yield STOPPED
            return
        total += count
        yield f"{move} {count}"
    yield speed_line(total, time.perf_counter() - begun)


def count_leaves(board: Board, depth: int, stopped: Callable[[], bool]) -> int:
    """Return Board.perft, counted in parts; if it is stopped between two parts, the count is invalid."""
    if depth <= PERFT_PART:
        return board.perft(depth)
    leaves = 0
    for move in board.legal_moves(include_all=True):
        if stopped():
            break
        board.push(move)
        leaves += count_leaves(board, depth - 1, stopped)
        board.pop()
    return leaves


def speed_line(nodes: int, seconds: float) -> str:
    """Return `nodes N time MS nps X`."""
    return f"nodes {nodes} time {round(seconds * 1000)} nps {round(nodes / max(seconds, 1e-6))}"


# Answers to questions about a position; `include_all`: GenerateAllLegalMoves.
DESCRIPTIONS: dict[str, Callable[[Board, bool], list[str]]] = {
    "d": lambda board, include_all: board_lines(board),
    "moves": lambda board, include_all: [" ".join(board.legal_moves(include_all=include_all))],
    "checks": lambda board, include_all: [" ".join(board.checking_moves(include_all=include_all))],
    "side": lambda board, include_all: [("black", "white")[board.turn]],
    "sfen": lambda board, include_all: [board.sfen()],
    "key": lambda board, include_all: [f"{board.key:016x}"],
}
