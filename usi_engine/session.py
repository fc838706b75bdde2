"""The state machine of a game: what each command does now, what must wait, what cuts in.

One thread runs it. Jobs (a search, loading, perft, bench) run on a thread of their own, one at a time; while one runs,
commands that would touch its world wait in line, and only `stop`, `ponderhit`, `gameover` and `quit` cut in.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from usi_engine import AUTHOR, NAME, __version__, protocol
from usi_engine.answers import perft, show
from usi_engine.clock import FIRST_FEAR, Lateness, Limits, plan
from usi_engine.control import Control, NoStop
from usi_engine.core import Core, CoreError, load_core
from usi_engine.mating import Mating
from usi_engine.options import Options
from usi_engine.output import Writer
from usi_engine.protocol import Command, Go, GoMate, Quit
from usi_engine.resources import Resources
from usi_engine.thinking import Thinking

if TYPE_CHECKING:
    from core_ext.board import Board

# Undeclared options for tuners: `Tune_` and the name of a constant in the core's table.
TUNING_PREFIX = "Tune_"
# How long a search that was told to stop may take to say so before we leave without it.
LEAVE_SECONDS = 5.0


@dataclass(frozen=True)
class Done:
    """A job's thread says that it has ended."""


@dataclass(frozen=True)
class Load:
    """Load what the options want, without an answer: the clock of a go that waits for it starts with its end."""


@dataclass(frozen=True)
class Leave:
    """The end of a list of commands: quit once all of them are done."""


@dataclass
class Job:
    """What runs now; `control` is None where it is no search."""

    thread: threading.Thread
    control: Control | None
    go: Go | GoMate | None = None


Posted = Command | Load | Leave
CUTS_IN = (protocol.Stop, protocol.PonderHit, protocol.GameOver)
ENDS = (protocol.Stop, protocol.GameOver, Quit)
AT_ONCE = (protocol.Usi, protocol.Ignored, protocol.Problem)
# The clock of a move starts when these arrive.
CLOCKED = (Go, GoMate, protocol.PonderHit)
# A search that only `stop` can end gives way to these.
DISPLACES = (Go, GoMate, protocol.SetPosition, protocol.IsReady, protocol.NewGame)


class Session:
    """Takes commands from any thread by `post`; `run` carries them out until it is told to quit."""

    def __init__(self, writer: Writer, load: Callable[[], Core] = load_core) -> None:
        self._writer = writer
        self._options = Options()
        self._resources = Resources(self._options, writer, load)
        self._events: queue.SimpleQueue[tuple[float, Posted | Done]] = queue.SimpleQueue()
        self._waiting: deque[Posted] = deque()
        self._job: Job | None = None
        self._board: Board | None = None
        self._refused = False
        self._leaving = False
        self._lateness = Lateness(FIRST_FEAR)
        self._clock_start = time.monotonic()
        self._over = False
        self._doers: dict[type[Any], Callable[[Any], None]] = {
            protocol.Usi: self._usi,
            protocol.IsReady: self._isready,
            protocol.NewGame: self._new_game,
            protocol.SetOption: self._setoption,
            protocol.GetOption: self._getoption,
            protocol.SetPosition: self._position,
            protocol.Go: self._go,
            protocol.GoMate: self._go_mate,
            protocol.Stop: self._stop,
            protocol.GameOver: self._stop,
            protocol.PonderHit: self._ponderhit,
            protocol.Show: self._show,
            protocol.Perft: self._perft,
            protocol.Bench: self._bench,
            protocol.Problem: self._problem,
            protocol.Quit: self._quit,
            Load: self._load,
            Leave: self._quit,
        }

    def post(self, command: Posted) -> None:
        """Hand in a command, from any thread."""
        self._events.put((time.monotonic(), command))

    def run(self) -> None:
        """Carry out commands until quit."""
        while not self._over:
            at, event = self._events.get()
            if isinstance(event, Done):
                self._job_done(at)
            else:
                if isinstance(event, CLOCKED):
                    self._clock_start = at
                self._arrived(event)
            while self._waiting and self._may_run(self._waiting[0]) and not self._over:
                self._do(self._waiting.popleft())
        if self._job is not None:
            self._job.thread.join(LEAVE_SECONDS)

    # What happens when.

    def _job_done(self, at: float) -> None:
        control = self._job.control if self._job else None
        self._job = None
        if control is not None:
            self._lateness.seen(control.late)
        # A go that had to wait for this job begins with its end; for all others this is past.
        self._clock_start = max(self._clock_start, control.ended if control else at)

    def _arrived(self, command: Posted) -> None:
        if isinstance(command, AT_ONCE):
            self._do(command)
            return
        self._hasten(command)
        self._waiting.append(command)
        if isinstance(command, CUTS_IN) and not self._goes_waiting():
            self._waiting.pop()
            self._do(command)

    def _hasten(self, command: Posted) -> None:
        """End what this command must not wait for."""
        control = self._job.control if self._job else None
        self._leaving = self._leaving or isinstance(command, Quit)
        if control is None:
            return
        if isinstance(command, ENDS) or (isinstance(command, DISPLACES) and control.closed):
            control.stop()

    def _goes_waiting(self) -> bool:
        """Whether a go stands in line, which a stop behind it is meant for."""
        return any(isinstance(command, (Go, GoMate)) for command in self._waiting)

    def _may_run(self, command: Posted) -> bool:
        if self._job is None or isinstance(command, CUTS_IN):
            return True
        return self._job.control is not None and (isinstance(command, Quit) or harmless(command))

    def _do(self, command: Posted) -> None:
        doer = self._doers.get(type(command))
        if doer is None:
            return
        try:
            doer(command)
        except CoreError as error:
            self._writer.info(str(error))
        except Exception as error:
            self._writer.info(f"error: {type(error).__name__}: {error}")

    def _begin(self, work: Callable[[], None], control: Control | None = None, go: Go | GoMate | None = None) -> None:
        """Run `work` on a thread of its own; commands wait until it is done."""

        def body() -> None:
            try:
                work()
            except Exception as error:
                self._writer.info(f"error: {type(error).__name__}: {error}")
            finally:
                self._events.put((time.monotonic(), Done()))

        self._job = Job(threading.Thread(target=body, name="job", daemon=True), control, go)
        self._job.thread.start()

    # The commands.

    def _usi(self, command: protocol.Usi) -> None:
        head = [f"id name {NAME} {__version__}", f"id author {AUTHOR}"]
        self._writer.lines([*head, *self._options.declarations(), "usiok"])

    def _problem(self, command: protocol.Problem) -> None:
        self._writer.info(command.text)

    def _setoption(self, command: protocol.SetOption) -> None:
        if command.name.startswith(TUNING_PREFIX):
            trouble = self._tune(command.name.removeprefix(TUNING_PREFIX), command.value)
        else:
            trouble = self._options.set(command.name, command.value)
        if trouble:
            self._writer.info(trouble)

    def _tune(self, name: str, text: str) -> str | None:
        """Set a constant of the search; None, or one sentence that says why not."""
        try:
            self._resources.core.tune(name, int(float(text)))
        except ValueError as error:
            return f"option {TUNING_PREFIX}{name}: {error}"
        return None

    def _getoption(self, command: protocol.GetOption) -> None:
        lines = self._options.listing(command.name)
        self._writer.lines(lines or [f"info string no option is named '{command.name}'"])

    def _isready(self, command: protocol.IsReady) -> None:
        def work() -> None:
            try:
                self._resources.load_patiently()
            except (CoreError, MemoryError) as error:
                self._writer.info(str(error))
            finally:
                self._writer.line("readyok")

        self._begin(work)

    def _load(self, command: Load) -> None:
        def work() -> None:
            with suppress(CoreError, MemoryError):  # the go says what is missing
                self._resources.load()

        self._begin(work)

    def _new_game(self, command: protocol.NewGame) -> None:
        self._begin(self._resources.new_game)

    def _position(self, command: protocol.SetPosition) -> None:
        self._refused = True
        board = self._build(command)
        if board is not None:
            self._board, self._refused = board, False

    def _build(self, command: protocol.SetPosition) -> Board | None:
        """The position asked for; None, after one info string, where the text describes none."""
        try:
            board = self._resources.core.board(command.sfen)
        except ValueError as error:
            self._writer.info(f"position refused: {error}")
            return None
        for number, move in enumerate(command.moves, 1):
            try:
                board.push(move)
            except ValueError as error:
                self._writer.info(f"position refused: move {number} '{move}': {error}")
                return None
        return board

    def _current(self) -> Board:
        """The position of the game; the start position where none was set."""
        if self._board is None:
            self._board = self._resources.core.board(protocol.START)
        return self._board

    def _go(self, command: Go) -> None:
        control = self._control(command, self._plan(command), command.open_ended() and not command.ponder)
        board = self._root()
        thinking = Thinking(self._resources, self._options, self._writer, control)
        self._begin(lambda: thinking.run(command, board), control, command)

    def _go_mate(self, command: GoMate) -> None:
        unlimited = command.milliseconds is None and command.nodes is None
        control = self._control(command, Limits(hard=command.milliseconds), unlimited)
        board = self._root()
        mating = Mating(self._resources, self._options, self._writer, control)
        self._begin(lambda: mating.run(command, board), control, command)

    def _control(self, command: Go | GoMate, limits: Limits, infinite: bool) -> Control:
        """The clock of a new search, started; a session that is leaving stops it before it begins."""
        pondering = isinstance(command, Go) and command.ponder
        control = Control(self._cleared_stop(), limits, pondering, infinite, self._clock_start)
        control.start()
        if self._leaving:
            control.stop()
        return control

    def _cleared_stop(self) -> Any:
        try:
            stop = self._resources.stop
        except CoreError:
            # Nothing can search without a core; the go is still answered, and its clock and its stop work as ever.
            return NoStop()
        stop.clear()
        return stop

    def _root(self) -> Board | None:
        """A copy of the position to think about; None where it was refused or there is no core to hold one."""
        if self._refused:
            self._writer.info("the last position was refused; there is no game to play on")
            return None
        try:
            return self._current().copy()
        except CoreError as error:
            self._writer.info(str(error))
            return None

    def _plan(self, command: Go) -> Limits:
        try:
            board = self._current()
        except CoreError:
            return Limits()
        return plan(command, board.turn == self._resources.core.black, board.ply, self._options, self._lateness)

    def _stop(self, command: protocol.Stop | protocol.GameOver) -> None:
        if self._job and self._job.control:
            self._job.control.stop()

    def _ponderhit(self, command: protocol.PonderHit) -> None:
        job = self._job
        if job is None or job.control is None or not isinstance(job.go, Go):
            return
        go = job.go
        if command.times.given():
            go = Go(command.times, depth=go.depth, nodes=go.nodes, movetime=go.movetime)
        job.control.hit(self._plan(go), go.open_ended(), self._clock_start)

    def _show(self, command: protocol.Show) -> None:
        if command.what == "eval":
            self._eval()
        else:
            self._writer.lines(show(command.what, self._current(), self._options.flag("GenerateAllLegalMoves")))

    def _eval(self) -> None:
        terms = self._resources.team.leader.evaluate(self._current())
        self._writer.lines([f"{name} {value}" for name, value in terms])

    def _perft(self, command: protocol.Perft) -> None:
        board = self._current().copy()

        def work() -> None:
            for line in perft(board, command.depth):
                self._writer.line(line)

        self._begin(work)

    def _bench(self, command: protocol.Bench) -> None:
        def work() -> None:
            from usi_engine.tools.bench import bench  # noqa: PLC0415  (not needed in play)

            self._writer.line(bench(self._resources.core, self._resources.weights, command.depth, command.megabytes))

        self._begin(work)

    def _quit(self, command: Quit | Leave) -> None:
        self._stop(protocol.Stop())
        self._over = True


def harmless(command: Posted) -> bool:
    """Whether a running search does not mind it."""
    return isinstance(command, protocol.GetOption) or (isinstance(command, protocol.Show) and command.what != "eval")
