"""The mate search for the Python API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.api.second_solutions import SecondSolution, SecondSolutionSearch
from usi_engine.core import Board, MateSolver, StopToken, load_core
from usi_engine.memory import check_free
from usi_engine.search.results import Limit, copy_of
from usi_engine.waiting import run_interruptibly


@dataclass(frozen=True)
class Mate:
    """The result of a mate search, true if there is a mate.

    `found` is True, False without a mate, None if undecided within the limits. `moves` begin with the side to move.
    """

    found: bool | None
    moves: tuple[str, ...]
    nodes: int

    def __bool__(self) -> bool:
        return bool(self.found)


def mate(
    board: Board,
    *,
    nodes: int | None = None,
    time: float | None = None,
    aim: str = "short",
    megabytes: int = 64,
    threads: int = 1,
) -> Mate:
    """Search a mate by continuous checks, for at most `nodes` or `time` (seconds); without them until it is decided.

    `aim`: `first` takes the first mate found, `short` also looks for a shorter one about as long as the proof took,
    `shortest` goes on until the shortest is proved. `megabytes`: size of the proof table. With one thread the same call
    has the same answer. Futile interpositions are not counted, as in mate problems. ValueError for another aim, a limit
    or a number of threads out of range, MemoryError, CoreError.
    """
    position = copy_of(board)
    solver, stop = limited_solver(nodes, time, megabytes, threads)
    status, moves = run_interruptibly(lambda: solver.solve(position, nodes or 0, aim), stop.set)
    return Mate({"mate": True, "nomate": False}.get(status), tuple(moves), solver.nodes)


def second_solutions(
    board: Board,
    moves: Sequence[str],
    *,
    nodes: int | None = None,
    time: float | None = None,
    megabytes: int = 64,
    threads: int = 1,
) -> list[SecondSolution]:
    """Find the other checks along a solution, `moves`, that mate too, with limits as in `mate`.

    ValueError also if the moves do not mate.
    """
    search = SecondSolutionSearch(copy_of(board), moves)
    solver, stop = limited_solver(nodes, time, megabytes, threads)
    run_interruptibly(lambda: list(search.run(solver, stop, nodes or 0)), stop.set)
    return search.results()


def limited_solver(nodes: int | None, time: float | None, megabytes: int, threads: int) -> tuple[MateSolver, StopToken]:
    """Return a solver and its stop token, which is set after `time`. ValueError, MemoryError, CoreError."""
    core = load_core()
    if nodes is not None or time is not None:
        Limit(time, nodes).check()
    check_free(megabytes)
    stop = core.stop_token()
    solver = core.mate_solver(megabytes, stop, threads=threads)
    if time is not None:
        stop.set_in(time)
    return solver, stop
