"""The search of one depth as Python sees it: tables, a stop token, one Worker a thread.

Values are centipawns for the side to move at the root. A mate in n plies is MATE - n (for the side that mates) or
n - MATE; |value| >= MATE_BOUND says mate. INFINITE is above every value.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core_ext.board import Board

MATE: int  # 32000
MATE_BOUND: int  # 31000
INFINITE: int  # 32600
MAX_DEPTH: int  # 127

BONAPIECES: int  # 1548
HALF_SQUARES: int  # 45, the king squares of files 1 to 5
PAIRS: int  # of Bonapiece numbers
FV_SCALE: int  # 32
TEMPO_STEP: int  # 4
SQUARES: int  # 81

class StopToken:
    """A flag that any thread raises to stop every search that watches it; seen within a millisecond."""

    def set(self) -> None: ...
    def set_in(self, seconds: float) -> None:
        """From so many seconds on (none or fewer: from now on) it counts as set; the last call stands.

        A search by a Worker looks up the clock itself, so no thread has to be woken; a MateSolver knows `set` alone.
        """
    def clear(self) -> None:
        """Lower the flag, and forget what set_in was told."""
    def is_set(self) -> bool: ...

class Table:
    """A transposition table shared by the workers of one engine."""

    def __init__(self, megabytes: int) -> None:
        """MemoryError, naming the size, where it cannot be had."""
    @property
    def megabytes(self) -> int: ...
    def clear(self) -> None: ...
    def new_search(self) -> None:
        """Age every entry by one search."""
    def hashfull(self) -> int:
        """Permille of the entries written in this search."""

class RootLine:
    """A root move with what the last search said of it."""

    @property
    def value(self) -> int:
        """Value of the last finished or bounded search of this move; -INFINITE where it was not searched yet."""
    @property
    def previous(self) -> int:
        """Its value one depth before; -INFINITE where there was none."""
    @property
    def bound(self) -> str:
        """`exact`, `lower` or `upper`."""
    @property
    def seldepth(self) -> int: ...
    @property
    def nodes(self) -> int:
        """Nodes spent below this move since set_root."""
    @property
    def pv(self) -> list[str]:
        """Legal moves, the root move first."""

class Weights:
    def allocate(self) -> None: ...
    def unfold_pieces(
        self, piece: NDArray[np.int32], kp: NDArray[np.int16], kkp: NDArray[np.int16], kkp_step: int
    ) -> None: ...
    def unfold_king(self, king: int, pp: NDArray[np.int16], kpp: NDArray[np.int16], step: int) -> None: ...
    def unfold_tempo(self, kp: NDArray[np.int16], pp: NDArray[np.int16], pp_step: int) -> None: ...
    def memory(self) -> list[memoryview]: ...
    def complete(self, tempo: int) -> None: ...

class Worker:
    """The search of one thread. Everything here but `nodes` belongs to the thread that runs it."""

    def __init__(self, table: Table, stop: StopToken, index: int = ..., weights: Weights | None = ...) -> None:
        """`index` 0 is the main worker; helpers (1, 2, ...) vary their depths. Without weights: the material value."""
    def new_game(self) -> None:
        """Forget histories. (The table is the caller's.)"""
    def configure(
        self,
        *,
        draw_black: int = ...,
        draw_white: int = ...,
        max_moves: int = ...,
        declaration: str = ...,
        include_all: bool = ...,
    ) -> None:
        """Value of a draw for each colour in centipawns, MaxMovesToDraw (0 = off), a word of EnteringKingRule, GenerateAllLegalMoves."""
    def set_root(self, board: Board, moves: Sequence[str] | None = ...) -> int:
        """Copy the position with its game; keep the legal moves (of `moves`, where given). Returns how many; resets `nodes`."""
    def search(self, depth: int, alpha: int, beta: int, first: int = ..., node_limit: int = ...) -> int:
        """Search the root moves from the `first`-best on to `depth` in the window; returns the value, without the GIL.

        The root lines from `first` on are then sorted, best first. `node_limit` counts all nodes since set_root (0 = none).
        When `stopped` is true afterwards, the value is void; the root lines hold what was known.
        """
    @property
    def stopped(self) -> bool:
        """Whether the last search ended by the stop or the node limit."""
    @property
    def nodes(self) -> int:
        """Nodes since set_root; may be read from any thread."""
    @property
    def seldepth(self) -> int: ...
    def lines(self, count: int = ...) -> list[RootLine]:
        """The root lines, best first."""
    def evaluate(self, board: Board) -> list[tuple[str, int]]:
        """The terms of the static value, last `total`; centipawns for the side to move."""

class MateSolver:
    """A mate search by proof numbers with a table of its own. The attacker is the side to move; all its moves are checks.

    What is found is kept for the next call. Everything but `nodes`, `expanded` and `hashfull` belongs to the thread
    that solves.
    """

    def __init__(self, megabytes: int, stop: StopToken, count_useless: bool = ...) -> None:
        """MemoryError where the table cannot be had. `count_useless`: useless interpositions lengthen a mate like others."""
    def clear(self) -> None:
        """Forget everything."""
    def solve(self, board: Board, node_limit: int = ..., aim: str = ...) -> tuple[str, list[str]]:
        """(`mate`, moves), (`nomate`, []) where there is none, or (`unknown`, []) at the stop or the limit; without the GIL.

        The moves are a mate by checks that ends in mate but for useless interpositions: drops before a slider that takes
        them with mate again, even if it does not keep the piece. They are the shortest mate against the longest defence
        where `proved_shortest` says so: with the aim `shortest` that is looked for until it is found, with `shorter` for about as long as the proof took, with
        `first` not at all. The game behind `board` is not looked at. ValueError for another aim.
        """
    @property
    def proved_shortest(self) -> bool:
        """Whether the last line is proved to be as short as can be."""
    @property
    def nodes(self) -> int:
        """Positions set up by the last or running solve; may be read from any thread."""
    @property
    def expanded(self) -> int:
        """Those of them whose own moves were made; the others were only looked at. May be read from any thread."""
    @property
    def hashfull(self) -> int:
        """Permille of the table in use."""

def bench_search(sfens: Sequence[str], depth: int, megabytes: int = ..., weights: Weights | None = ...) -> int:
    """Total nodes of searching each position to `depth` with a cleared state; the signature."""

def tunables() -> list[tuple[str, int, int, int, int]]:
    """Every constant of the search: name, value now, default, least, greatest."""

def tunable(name: str) -> int:
    """A constant's value now. KeyError where there is none of that name."""

def set_tunable(name: str, value: int) -> None:
    """For the next searches of this process; ValueError where the name or the range is wrong."""
