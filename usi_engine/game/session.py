"""The state of a game, and the order in which commands are carried out.

One thread runs the session. Jobs (a search, loading, perft, bench) run on a second thread, one at a time. COMMANDS says
what each command does while a job runs.

The path of a `go`: post, _step, _advance, _carry_out, _go, and then Thinking.run or Mating.run on the thread for jobs.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from usi_engine import AUTHOR, NAME, __version__
from usi_engine.core import Board, Core, CoreError, StopToken, board_after, sentence_of
from usi_engine.game.console import DESCRIPTIONS, HELP_LINES, eval_lines, perft
from usi_engine.game.mating import Mating
from usi_engine.game.thinking import Thinking
from usi_engine.language import text_of
from usi_engine.search.resources import Resources
from usi_engine.search.search_control import NoStop, SearchControl
from usi_engine.search.spec import spec_of
from usi_engine.search.threads import Runner
from usi_engine.search.timeman import INITIAL_LATENESS, Lateness, TimeLimits, time_limits
from usi_engine.usi import protocol
from usi_engine.usi.options import TUNING_PREFIX, Options
from usi_engine.usi.output import Writer, repeated
from usi_engine.usi.protocol import Command, Go, GoMate, Word

# After `quit` or the end of input the program ends within this time, whatever is running or queued.
QUIT_SECONDS = 5.0
# Seconds between the empty lines that isready prints while it loads, so that the GUI does not time out.
KEEPALIVE_SECONDS = 1.0


class Internal(Enum):
    """Posted beside the commands."""

    JOB_DONE = "a job has ended"
    LOAD = "load what the options name, without an answer; the clock of a queued go starts when it is done"
    QUIT_WHEN_DONE = "quit when all commands before it are done"


@dataclass
class Job:
    """The running job. `control` is None unless it is a search, `stop` is None if nothing ends it early.

    `on_clock`: its time is charged to a `go` that arrives in the meantime, because a GUI does not wait for its end.
    """

    control: SearchControl | None = None
    go: Go | GoMate | None = None
    stop: Callable[[], None] | None = None
    on_clock: bool = False


Posted = Command | Internal


def kind_of(command: Posted) -> Enum | type[Any]:
    """Return the key of a command in tables: a word itself, else its type."""
    return command if isinstance(command, Enum) else type(command)


class Busy(Enum):
    """The effect of a command that arrives while a job runs.

    A command that waits may be overtaken, but by nothing that is for a later search: so no command waits for the end of
    a search that waits for a command behind it.
    """

    NOW = "is carried out at once, before all others"
    ACTS = "acts on the job at once; overtakes commands that wait, but not one that ends the search"
    IN_ORDER = "is carried out during a search, unless it would overtake a command"
    WAITS = "waits for the end of the job"
    ENDS = "waits for the end of the job, and ends a search that would go on until `stop` or `ponderhit`"


# These stop the running job when they arrive, whatever waits before them.
STOPS_JOB = (Word.STOP, Word.GAME_OVER, Word.QUIT)
# The clock of a move starts when one of these arrives.
CLOCKED = (Go, GoMate, protocol.PonderHit)


class Session:
    """A session: `post` takes commands from any thread, `run` carries them out until `quit`.

    RuntimeError if the thread for jobs cannot be started.
    """

    def __init__(self, writer: Writer, load: Callable[[], Core]) -> None:
        self._writer = writer
        self._options = Options()
        self._resources = Resources(self._options, writer.info, load)
        self._events: queue.SimpleQueue[tuple[float, Posted]] = queue.SimpleQueue()
        self._overtaken: deque[Posted] = deque()  # wait for the end of the job, before those in the queue
        self._queue: deque[Posted] = deque()
        # One thread for all jobs: if the system refuses it, that shows at the start, not in the middle of a game.
        self._jobs = Runner("jobs")
        self._job: Job | None = None
        self._board: Board | None = None
        self._position_refused = False
        self._quit_by: float | None = None  # deadline by time.perf_counter, after `quit`
        self._lateness = Lateness(INITIAL_LATENESS)
        self._clock_start = time.perf_counter()
        self._game_over = self._ended = False
        writer.when_closed = lambda: self.post(Word.QUIT)  # nobody reads an answer any more

    def post(self, command: Posted) -> None:
        """Queue a command, from any thread."""
        self._events.put((time.perf_counter(), command))

    def run(self) -> None:
        """Carry out commands until quit."""
        with suppress(queue.Empty):
            while not self._ended:
                self._step(*self._events.get(timeout=self._seconds_to_quit()))
        self._jobs.join(self._seconds_to_quit())

    def _seconds_to_quit(self) -> float | None:
        """Return the rest of QUIT_SECONDS, None before `quit`."""
        return None if self._quit_by is None else max(self._quit_by - time.perf_counter(), 0.0)

    def _step(self, at: float, event: Posted) -> None:
        if event is Internal.JOB_DONE:
            self._end_job(at)
        else:
            if isinstance(event, CLOCKED):
                self._clock_start = at
            self._receive(event)
        self._advance()

    def _end_job(self, at: float) -> None:
        job, self._job = self._job or Job(), None
        lateness = job.control.lateness if job.control else None
        if lateness is not None and isinstance(job.go, Go):  # a mate search reads its clock less often
            self._lateness.record(lateness)
        # The clock of a queued go starts at the answer of this job. A go that arrives later starts its own.
        if not job.on_clock:
            self._clock_start = max(self._clock_start, job.control.answered_at if job.control else at)

    def _receive(self, command: Posted) -> None:
        if command is Word.QUIT and self._quit_by is None:
            self._quit_by = time.perf_counter() + QUIT_SECONDS
        if command in STOPS_JOB:
            self._stop(command)
        if while_busy(command) is Busy.NOW:
            self._carry_out(command)
        else:
            self._queue.append(command)

    def _advance(self) -> None:
        """Carry out what can be carried out now."""
        while not self._ended:
            if self._job is None and self._overtaken:
                self._carry_out(self._overtaken.popleft())
            elif not self._queue:
                return
            elif self._job is not None and while_busy(self._queue[0]) is Busy.ENDS:
                if self._job.control is not None and self._job.control.must_wait:
                    self._job.control.stop()
                return
            elif self._job is None or self._acts_now(self._queue[0]):
                self._carry_out(self._queue.popleft())
            else:
                self._overtaken.append(self._queue.popleft())

    def _acts_now(self, command: Posted) -> bool:
        """Return whether a command that does not end the search is carried out during the job."""
        busy, control = while_busy(command), self._job.control if self._job else None
        if command is Word.IS_READY:
            return control is not None and not control.stopped
        if busy is Busy.IN_ORDER:
            is_eval = isinstance(command, protocol.Question) and command.what == "eval"
            return control is not None and not self._overtaken and not is_eval
        return busy is Busy.ACTS

    def _carry_out(self, command: Posted) -> None:
        try:
            COMMANDS[kind_of(command)][1](self, command)
        except Exception as error:
            self._writer.info(sentence_of(error, "error"))

    def _start_job(
        self,
        work: Callable[[], None],
        control: SearchControl | None = None,
        go: Go | GoMate | None = None,
        stop: Callable[[], None] | None = None,
        on_clock: bool = False,
    ) -> None:
        """Run `work` on the thread for jobs; after `quit` it is stopped at once."""
        self._job = Job(control, go, control.stop if control else stop, on_clock)
        if self._quit_by is not None and self._job.stop:
            self._job.stop()
        self._jobs.submit(lambda: self._carry_out_job(work))

    def _carry_out_job(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._writer.info(sentence_of(error, "error"))
        finally:
            self._events.put((time.perf_counter(), Internal.JOB_DONE))

    # ---- commands ----

    def _usi(self, _command: Posted) -> None:
        name = f"{NAME} {__version__} {self._resources.evaluation_title}".rstrip()
        head = [f"id name {name}", f"id author {AUTHOR}"]
        self._writer.lines([*head, *self._options.declarations(), "usiok"])

    def _setoption(self, command: protocol.SetOption) -> None:
        if command.name.startswith(TUNING_PREFIX):
            refusal = self._tune(command.name.removeprefix(TUNING_PREFIX), command.value)
        else:
            refusal = self._options.set(command.name, command.value)
        if refusal:
            self._writer.info(refusal)

    def _tune(self, name: str, text: str) -> str | None:
        """Set a constant of the search; return the reason if it was not set."""
        try:
            self._resources.core.set_tunable(name, int(text))
        except (ValueError, OverflowError) as error:
            return f"option {TUNING_PREFIX}{name} cannot be '{text}': {error}"
        return None

    def _getoption(self, command: protocol.GetOption) -> None:
        lines = self._options.listing(command.name)
        self._writer.lines(lines or [f"info string no option is named '{command.name}'"])

    def _isready(self, _command: Posted) -> None:
        if self._job is not None:
            self._writer.line("readyok")
            return
        between_games, self._game_over = self._game_over, False
        stop = self._cleared_stop()  # ends the touching of a large TT, nothing else

        def work() -> None:
            try:
                self._resources.recheck_files()
                with repeated(lambda: self._writer.line(""), KEEPALIVE_SECONDS):
                    self._resources.load()
                    if between_games:  # clear TT and histories for the next game now, before its clock runs
                        self._resources.new_game()
            except (CoreError, MemoryError) as error:
                self._writer.info(text_of(error))
            finally:
                self._writer.line("readyok")

        self._start_job(work, stop=stop.set)

    def _load(self, _command: Posted) -> None:
        def work() -> None:
            with suppress(CoreError, MemoryError):  # reported by the go
                self._resources.load()

        self._start_job(work, stop=self._cleared_stop().set)

    def _position(self, command: protocol.SetPosition) -> None:
        self._position_refused = True
        board = self._build_board(command)
        if board is not None:
            self._board, self._position_refused = board, False

    def _build_board(self, command: protocol.SetPosition) -> Board | None:
        """Return the board after all moves; None, after one info string, if sfen or a move is refused."""
        try:
            return board_after(command.sfen, command.moves)
        except ValueError as error:
            self._writer.info(f"position refused: {error}")
            return None

    def _current(self) -> Board:
        """Return the position of the game, the start position if none was set."""
        if self._board is None:
            self._board = self._resources.core.board(protocol.STARTPOS)
        return self._board

    def _go(self, command: Go) -> None:
        self._game_over = False  # the game is being analysed: the next isready keeps the table
        self._report_faults(command)
        self._resources.read_eval_options()  # there may have been no isready
        control = self._new_control(command, self._time_limits(command), command.open_ended() and not command.ponder)
        board = self._root_board()
        spec = None if board is None else spec_of(self._options, command, board)
        thinking = Thinking(self._resources, self._writer, control, self._interval(command))
        self._start_job(lambda: thinking.run(spec), control, command)

    def _interval(self, command: Go) -> int:
        """Return the least milliseconds between printed results, 0 for all."""
        print_all = self._options.flag("ConsiderationMode") or (command.open_ended() and not command.ponder)
        return 0 if print_all else self._options.number("PvInterval")

    def _go_mate(self, command: GoMate) -> None:
        self._report_faults(command)
        unlimited = command.milliseconds is None and command.nodes is None
        control = self._new_control(command, TimeLimits(maximum=command.milliseconds), unlimited)
        board = self._root_board()
        mating = Mating(self._resources, self._writer, control, command, self._options.text("MateShortest"))
        self._start_job(lambda: mating.run(board), control, command)

    def _report_faults(self, command: Go | GoMate | protocol.PonderHit) -> None:
        for fault in command.faults:
            self._writer.info(fault)

    def _new_control(self, command: Go | GoMate, limits: TimeLimits, infinite: bool) -> SearchControl:
        """Return the control of a new search."""
        pondering = isinstance(command, Go) and command.ponder
        return SearchControl(self._cleared_stop(), limits, pondering, infinite, self._clock_start)

    def _cleared_stop(self) -> StopToken | NoStop:
        try:
            stop = self._resources.stop
        except CoreError:
            # Without a core there is no search, but the go is answered, perhaps only after `stop`.
            return NoStop()
        stop.clear()
        return stop

    def _root_board(self) -> Board | None:
        """Return a copy of the position to search; None if it was refused or there is no core."""
        if self._position_refused:
            self._writer.info("the last position was refused; send a legal one")
            return None
        try:
            return self._current().copy()
        except (CoreError, MemoryError) as error:
            self._writer.info(text_of(error))
            return None

    def _time_limits(self, command: Go) -> TimeLimits:
        try:
            board = self._current()
        except (CoreError, MemoryError):  # reported by _root_board
            return TimeLimits()
        return time_limits(command, board.turn, board.ply, self._options, self._lateness)

    def _stop(self, _command: Posted) -> None:
        if self._job and self._job.stop:
            self._job.stop()

    def _gameover(self, command: Posted) -> None:
        self._stop(command)
        self._game_over = True

    def _ponderhit(self, command: protocol.PonderHit) -> None:
        self._report_faults(command)
        job = self._job
        if job is None or job.control is None or not isinstance(job.go, Go):
            return
        go = job.go
        if command.times.given():
            new = {name: time for name, time in vars(command.times).items() if time is not None}
            go = replace(go, times=replace(go.times, **new), infinite=False)
        job.control.ponderhit(self._time_limits(go), go.open_ended(), self._clock_start)

    def _question(self, command: protocol.Question) -> None:
        if command.what == "eval":
            self._resources.load_in_play()
            lines = eval_lines(self._resources.pool.main, self._current())
        else:
            lines = DESCRIPTIONS[command.what](self._current(), self._options.flag("GenerateAllLegalMoves"))
        self._writer.lines(lines)

    def _perft(self, command: protocol.Perft) -> None:
        board, stopped = self._current().copy(), threading.Event()

        def work() -> None:
            for line in perft(board, command.depth, stopped.is_set):
                self._writer.line(line)

        self._start_job(work, stop=stopped.set)

    def _bench(self, command: protocol.Bench) -> None:
        core = self._resources.core
        stop = core.stop_token()

        def work() -> None:
            from usi_engine.game.bench import bench  # noqa: PLC0415  (not needed in play)

            self._writer.line(bench(core, self._resources.weights, command.depth, command.megabytes, stop))

        self._start_job(work, stop=stop.set)

    def _quit(self, command: Posted) -> None:
        self._stop(command)
        self._ended = True


# What each command does while a job runs, and how it is carried out.
COMMANDS: dict[Enum | type[Any], tuple[Busy, Callable[[Session, Any], None]]] = {
    Word.USI: (Busy.NOW, Session._usi),
    Word.HELP: (Busy.NOW, lambda session, command: session._writer.lines(list(HELP_LINES))),
    Word.NONE: (Busy.NOW, lambda session, command: None),
    protocol.Malformed: (Busy.NOW, lambda session, command: session._writer.info(command.text)),
    Word.STOP: (Busy.ACTS, Session._stop),
    protocol.PonderHit: (Busy.ACTS, Session._ponderhit),
    Word.GAME_OVER: (Busy.ACTS, Session._gameover),
    Word.IS_READY: (Busy.ACTS, Session._isready),  # during a search it is a ping; it waits for other jobs
    protocol.GetOption: (Busy.IN_ORDER, Session._getoption),
    protocol.Question: (Busy.IN_ORDER, Session._question),  # `eval` waits: it needs the worker of the search
    Word.QUIT: (Busy.IN_ORDER, Session._quit),
    protocol.SetOption: (Busy.WAITS, Session._setoption),
    protocol.Perft: (Busy.WAITS, Session._perft),
    protocol.Bench: (Busy.WAITS, Session._bench),
    Internal.LOAD: (Busy.WAITS, Session._load),
    Internal.QUIT_WHEN_DONE: (Busy.WAITS, Session._quit),
    Go: (Busy.ENDS, Session._go),
    GoMate: (Busy.ENDS, Session._go_mate),
    protocol.SetPosition: (Busy.ENDS, Session._position),
    Word.NEW_GAME: (Busy.ENDS, lambda session, command: session._start_job(session._resources.new_game, on_clock=True)),
}


def while_busy(command: Posted) -> Busy:
    """Return the effect of a command that arrives while a job runs."""
    return COMMANDS[kind_of(command)][0]
