"""The compiled core, imported on first use because `usi` must be answered at once."""

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi_engine.language import _, text_of
from usi_engine.usi.output import printable
from usi_engine.usi.protocol import position_of

# Types of the core for the annotations of modules that must not import it. They have no values at run time.
__all__ = [
    "Board", "Evaluation", "MateSolver", "MoveLike", "Network", "Outcome", "PieceValues", "RootLine", "StopToken",
    "Table", "Worker",
]  # fmt: skip
if TYPE_CHECKING:
    from core_ext.board import Board, MoveLike, Outcome
    from core_ext.engine import Evaluation, MateSolver, Network, PieceValues, RootLine, StopToken, Table, Worker
else:
    Board = MoveLike = Outcome = Any
    Evaluation = MateSolver = Network = PieceValues = RootLine = StopToken = Table = Worker = Any


FOLDER = Path(__file__).parents[1]
# Python looks in the working folder first: in a clone it finds this instead of the package that pip has compiled.
UNCOMPILED = "'{folder}' is not compiled; start Python in another folder, or compile it there: make run"
INTERRUPTED = 130  # exit status after Ctrl-C
# Quoted texts and numbers in a message of the core.
VALUES = re.compile(r"'[^']*'|\d+")


class CoreError(Exception):
    """The core cannot be loaded or used on this machine; the text is a sentence for the user."""


def sentence_of(error: Exception, title: str) -> str:
    """Return the text of a known error, or the title, type and text of an unexpected one."""
    known = isinstance(error, (CoreError, MemoryError))
    return text_of(error) if known else f"{title}: {type(error).__name__}: {error}"


def report(error: Exception) -> None:
    """Print an error on standard error. An OSError without a file is raised: standard output cannot be written."""
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        raise error
    print(printable(text_of(error)), file=sys.stderr)


def exit_status(run: Callable[[], int], *errors: type[Exception], stopped: str = "") -> int:
    """Run a command and return its exit status: 2 after an error of these types, which is printed, 130 after Ctrl-C.

    `stopped` is printed after Ctrl-C.
    """
    known: tuple[type[Exception], ...] = (OSError, CoreError, MemoryError, *errors)
    try:
        return run()
    except KeyboardInterrupt:
        if stopped:
            print(stopped, file=sys.stderr)
        return INTERRUPTED
    except known as error:
        report(error)
        return 2


def board_after(sfen: str, moves: Iterable[str]) -> Board:
    """Return the board after the moves. ValueError names the fault in the sfen, or the number of a bad move."""
    try:
        board = load_core().board(sfen)
    except ValueError as error:
        raise ValueError(translated(str(error))) from None
    for number, move in enumerate(moves, 1):
        try:
            board.push(move)
        except ValueError as error:
            message = _("move {number} '{move}': {reason}")
            raise ValueError(message.format(number=number, move=move, reason=translated(str(error)))) from None
    return board


def legal_part(board: Board, moves: Sequence[str]) -> tuple[str, ...]:
    """Return the moves before the first illegal one. `board` is not changed."""
    copy = board.copy()
    for count, move in enumerate(moves):
        try:
            copy.push(move)
        except ValueError:
            return tuple(moves[:count])
    return tuple(moves)


def translated(text: str) -> str:
    """Return a message of the core in the language of messages; the catalog has it as `with_places` returns it."""
    values = [match[0].strip("'") for match in VALUES.finditer(text)]
    pattern = with_places(text)
    found = _(pattern)
    return text if found == pattern else found.format(*values)


def with_places(text: str) -> str:
    """Return the text with `{0}`, `{1}`, ... instead of its quoted texts and numbers."""
    places = (f"{{{number}}}" for number in itertools.count())
    return VALUES.sub(lambda match: f"'{next(places)}'" if match[0][0] == "'" else next(places), text)


def board_of(text: str) -> Board:
    """Return the board of `[position] [sfen] SFEN|startpos [moves ...]`. ValueError as in board_after."""
    position = position_of(text)
    return board_after(position.sfen, position.moves)


def typed_board(text: str) -> Board:
    """Return the board of a position that a person typed. ValueError as in board_of, or if no game can reach it."""
    board = board_of(text)
    if faults := board.faults():
        reasons = _(", ").join(map(translated, faults))
        raise ValueError(_("no game can reach this position: {reasons}").format(reasons=reasons))
    return board


@dataclass(frozen=True)
class Core:
    """The parts of the core that play uses. Tests replace table, worker and mate solver by scripted ones."""

    board: type[Board]
    worker: type[Worker]
    table: type[Table]
    stop_token: type[StopToken]
    mate_solver: type[MateSolver]
    set_tunable: Callable[[str, int], None]


@cache
def load_core() -> Core:
    """Import the compiled core. CoreError if it is missing or this processor cannot run it."""
    try:
        from core_ext.processor import processor_error  # noqa: PLC0415  (slow to import)

        problem = processor_error()
        if problem is not None:
            raise CoreError(problem)
        from core_ext import board, engine  # noqa: PLC0415
    except ImportError as error:
        reason = UNCOMPILED.format(folder=FOLDER) if isinstance(error, ModuleNotFoundError) else error
        raise CoreError(f"could not load the compiled core: {reason}") from error
    return Core(
        board=board.Board,
        worker=engine.Worker,
        table=engine.Table,
        stop_token=engine.StopToken,
        mate_solver=engine.MateSolver,
        set_tunable=engine.set_tunable,
    )


def build_in_words() -> str:
    """Return the target CPU of the compiled core and the instruction set it uses, or why it cannot be used."""
    try:
        load_core()
    except CoreError as error:
        return str(error)
    from core_ext.engine import INSTRUCTIONS  # noqa: PLC0415
    from core_ext.processor import TARGET  # noqa: PLC0415

    return f"{TARGET} build, {INSTRUCTIONS}"
