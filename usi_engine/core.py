"""The compiled core, imported when it is first needed and not before: `usi` must be answered at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from core_ext.board import Board
    from core_ext.engine import StopToken, Table, Weights, Worker


class CoreError(Exception):
    """The core cannot run here; the text is one sentence for the user."""


class WeightsError(Exception):
    """The evaluation's weights are missing, damaged or made for another version; the text is one sentence."""


# The word of EvalFile for the piece values alone, and for the weights that come with the program.
MATERIAL, INTERNAL = "material", "<internal>"


class Solver(Protocol):
    """A mate search: `core_ext.engine.MateSolver`."""

    def __init__(self, megabytes: int, stop: StopToken, count_useless: bool = False) -> None: ...

    @property
    def nodes(self) -> int: ...

    @property
    def hashfull(self) -> int: ...

    def solve(self, board: Board, node_limit: int = 0, aim: str = "shorter") -> tuple[str, list[str]]:
        """(`mate`, moves), (`nomate`, []) or (`unknown`, []); the aim `shortest` goes on to the shortest mate."""


@dataclass(frozen=True)
class Core:
    """The names of the core that play uses; tests put slower or scripted ones in their place."""

    board: type[Board]
    black: int
    worker: type[Worker]
    table: type[Table]
    stop: type[StopToken]
    mate: int
    mate_bound: int
    infinite: int
    max_depth: int
    solver: type[Solver] | None
    bench: Callable[..., int]
    tune: Callable[[str, int], None]
    tuned: Callable[[str], int]
    load_weights: Callable[[str], Weights | None]  # by the word of EvalFile; None: material. WeightsError, MemoryError

    def in_plies(self, value: int) -> int | None:
        """Plies to mate, negative for the side that is mated, never 0; None where the value says no mate."""
        if abs(value) < self.mate_bound:
            return None
        plies = max(self.mate - abs(value), 1)
        return plies if value > 0 else -plies


def load_weights(name: str) -> Weights | None:
    """The evaluation's weights by the word of EvalFile, unfolded. WeightsError, MemoryError."""
    from usi_engine import weights  # noqa: PLC0415  (brings numpy)

    return weights.load_weights(name)


def load_core() -> Core:
    """Import the compiled core. CoreError where it is missing or this processor cannot run it."""
    try:
        from core_ext.base.processor import processor_error  # noqa: PLC0415  (heavy: not before it is needed)

        problem = processor_error()
        if problem is not None:
            raise CoreError(problem)
        from core_ext import board, engine  # noqa: PLC0415
    except ImportError as error:
        raise CoreError(f"the compiled core cannot be loaded: {error}") from error
    return Core(
        board=board.Board,
        black=board.BLACK,
        worker=engine.Worker,
        table=engine.Table,
        stop=engine.StopToken,
        mate=engine.MATE,
        mate_bound=engine.MATE_BOUND,
        infinite=engine.INFINITE,
        max_depth=engine.MAX_DEPTH,
        solver=getattr(engine, "MateSolver", None),
        bench=engine.bench_search,
        tune=engine.set_tunable,
        tuned=engine.tunable,
        load_weights=load_weights,
    )
