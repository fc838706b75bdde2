"""A USI engine as a process, this engine or any other.

A thread reads its output: it sets the events of the handshake and posts each `bestmove`.
"""

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import usi_engine
from usi_engine.language import _, reason_of, text_of
from usi_engine.usi.info import Info, Lines, parse_info
from usi_engine.usi.options import Option
from usi_engine.usi.output import printable
from usi_engine.usi.protocol import first_word
from usi_engine.waiting import WATCH_SECONDS

LAST_LINES = 5
LONGEST_LINE = 1 << 20  # letters; the rest counts as another line
# GUIs set these even if an engine does not declare them.
ALWAYS_SET = ("USI_Hash", "USI_Ponder")
MAX_MOVES, DECLARATION = "MaxMovesToDraw", "EnteringKingRule"
# Set if an engine declares it and the caller does not: with its default, YaneuraOu often prints nothing but bounds.
USUAL_OPTIONS = {"PvInterval": "0"}


class EngineError(Exception):
    """An engine that cannot be used: one line, and the last lines of its output."""

    def __init__(self, text: str, last_lines: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.last_lines = tuple(last_lines)

    def __str__(self) -> str:
        return "\n    ".join([str(self.args[0]), *map(printable, self.last_lines)])


class EngineDied(EngineError):
    """A process that has ended by itself."""


class EngineSilent(EngineError):
    """A process that does not answer in time."""


class EngineNonsense(EngineError):
    """A process whose answer is neither a legal move nor an evaluation."""


class UnknownOption(EngineError, ValueError):
    """An option that the engine does not have, or a value out of its range."""


@dataclass(frozen=True)
class Timeouts:
    """Seconds to wait for `usiok`, for `readyok`, and for an answer to `stop` or `quit`, before the process is killed.

    `silence` is the longest time without a line in a search that ends by nodes or depth; None: any.
    """

    start: float = 30.0
    ready: float = 120.0
    stop: float = 10.0
    silence: float | None = 60.0


USUAL_TIMEOUTS = Timeouts()


@dataclass(frozen=True)
class Answer:
    """The answer to search number `search`: a move, `resign`, `win`, or empty if the engine named none.

    `lines` are those of the search, best first. While it runs, `move` is None.
    """

    search: int
    move: str | None
    ponder: str = ""
    lines: tuple[Info, ...] = ()
    nodes: int = 0
    seconds: float = 0.0

    @property
    def line(self) -> Info:
        """The line of the move, or else the best one; an empty one if the engine reported none."""
        return next((line for line in self.lines if line.pv[:1] == (self.move,)), (*self.lines, Info())[0])


@dataclass(frozen=True)
class EngineGone:
    """The process has ended by itself; `start` counts its starts, `status` tells how it ended."""

    start: int
    status: str


EngineEvent = Answer | EngineGone


def bounded_lines(output: IO[str]) -> Iterator[str]:
    """Yield the lines of a process, or parts of LONGEST_LINE letters of a longer one."""
    return iter(lambda: output.readline(LONGEST_LINE), "")


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process, on POSIX with the processes that it started, also if it has ended; wait for its end."""
    try:
        os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own
    except (AttributeError, OSError):  # Windows; nothing is left of the group
        process.kill()
    process.wait()


def exit_words(status: int | None) -> str:
    """Return how a process has ended: `exit status 1` or `signal SIGSEGV`."""
    with contextlib.suppress(ValueError, TypeError):
        return _("signal {name}").format(name=signal.Signals(-(status or 0)).name)
    return _("exit status {status}").format(status=status)


def own_engine() -> list[str]:
    """Return the command that starts this package. `-m` would prefer a namesake in the working folder."""
    home = str(Path(usi_engine.__file__).resolve().parents[1])
    code = f"import sys; sys.path.insert(0, {home!r}); from usi_engine.__main__ import main; sys.exit(main())"
    return [sys.executable, "-c", code]


class EngineProcess:
    """An engine process. Its answers are returned by `search`, or, with `post`, posted by its reading thread.

    `note` gets the engine's messages before it is ready (an option refused, a file not found), `errors` each line of
    standard error, which otherwise counts as output. A process that has ended is started again by `prepare`.
    """

    def __init__(
        self,
        command: Sequence[str],
        options: Mapping[str, str],
        post: Callable[[EngineEvent], None] | None = None,
        folder: Path | None = None,
        note: Callable[[str], None] = lambda text: None,
        *,
        timeouts: Timeouts = USUAL_TIMEOUTS,
        errors: Callable[[str], None] | None = None,
    ) -> None:
        self._command, self._options, self._folder = list(command), dict(options), folder
        self._note, self._timeouts, self._errors = note, timeouts, errors
        self._events = queue.SimpleQueue[EngineEvent]()  # for `search`
        self._post = post or self._events.put
        self._shows_progress = post is None
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)  # of the output
        self._usiok, self._readyok, self._idle = threading.Event(), threading.Event(), threading.Event()
        self._lock, self._going = threading.Lock(), threading.Lock()
        self._lines, self._begun, self._heard = Lines(), 0.0, 0.0  # of the search; when the last line came
        self.starts = self._searches = 0
        self._ended = self._killed = False  # killed because it did not answer `stop`
        self._process: subprocess.Popen[str] | None = None
        self.declared: dict[str, Option] = {}
        self.name = self._pondered = ""  # the position that it ponders on

    @property
    def title(self) -> str:
        """The name that the engine gives itself, or else its program."""
        return self.name or self._command[0]

    @property
    def pid(self) -> int:
        """The number of the process, which is started."""
        assert self._process is not None
        return self._process.pid

    @property
    def busy(self) -> bool:
        """True during a search."""
        return not self._idle.is_set()

    def start(self) -> None:
        """Start the process and set its options. EngineError."""
        with self._lock:  # the end of an older process no longer counts
            self.starts += 1
            self._usiok.clear()
            self._idle.set()
            self._ended = self._killed = False
        self._process = self._open()
        threading.Thread(target=self._read, args=(self._process, self.starts), daemon=True).start()
        if self._errors and self._process.stderr:
            threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True).start()
        self._send("usi")
        self._await(self._usiok, self._timeouts.start, "usiok")
        self._options = {self._declared_name(name): value for name, value in self._options.items()}
        usual = {name: value for name, value in USUAL_OPTIONS.items() if name in self.declared}
        for name, value in {**usual, **self._options}.items():
            self._set(name, value)

    def set_option(self, name: str, value: str) -> None:
        """Set an option, also of a process started again; a button has no value. UnknownOption."""
        name = self._declared_name(name)
        self._readyok.clear()  # what the engine says next is about the option
        self._set(name, value)
        if value:
            self._options[name] = value

    def sets(self, name: str) -> bool:
        """Return whether the caller has given this option."""
        return name in self._options

    def prepare(self, max_moves: int = 0, declaration: str = "") -> None:
        """Wait until the engine is ready for a game, which takes long only the first time. EngineError.

        The game is a draw after `max_moves`, and `declaration` is the rule of declaring a win (empty: the engine's); an
        engine with these options is told, unless the caller has given them.
        """
        self._readyok.clear()  # before the check below: a process that ends from now on sets it
        if self._process is None or self._process.poll() is not None:
            self.start()
        for name, value in ((MAX_MOVES, str(max_moves)), (DECLARATION, declaration)):
            if value and name in self.declared and not self.sets(name):
                self._set(name, value)
        self._send("isready")
        self._await(self._readyok, self._timeouts.ready, "readyok")

    def new_game(self) -> None:
        """Tell the engine that a game begins."""
        self._send("usinewgame")

    def search(
        self,
        position: str,
        limits: str,
        longest: float | None = None,
        silence: float | None = None,
        watch: Callable[[Answer], None] | None = None,
    ) -> Answer:
        """Search and return the answer. The search is stopped after `longest` seconds. EngineDied, EngineSilent.

        A process that says nothing for `silence` seconds counts as silent. `watch` is called with each new line.
        """
        number = self.go(position, limits)
        try:
            while (answer := self._next(number, longest, silence)).move is None:
                if watch:
                    watch(answer)
            return answer
        except BaseException:
            self.stop()
            raise

    def go(self, position: str, limits: str, ponder: bool = False) -> int:
        """Begin a search and return its number.

        A search that still runs is stopped first. But if it ponders on this position, which the opponent's move has
        made, it goes on by `ponderhit`, and the time of its answer begins now.
        """
        if self.busy and position == self._pondered:
            self._pondered, self._begun = "", time.monotonic()
            self._send("ponderhit")
            return self._searches
        self.stop()
        self._pondered = position if ponder else ""
        self._readyok.set()
        with self._going:  # a `stop` of another thread comes after the go
            with self._lock:
                self._searches += 1
                self._lines, self._begun = Lines(), time.monotonic()
                self._heard = self._begun
                if self._process is not None and not self._ended:
                    self._idle.clear()  # only the end of a process sets it without an answer
            self._send(f"position {position}")
            self._send(f"go ponder {limits}" if ponder else f"go {limits}")
        return self._searches

    def stop(self) -> None:
        """End a running search and wait for its answer, which is still posted."""
        process = self._process
        if self.busy and process is not None:
            with self._going:
                self._send("stop")
            if not self._idle.wait(self._timeouts.stop):
                self._killed = True
                kill(process)

    def game_over(self, result: str) -> None:
        """Tell the engine the result: `win`, `lose`, `draw` or `unknown`."""
        self.stop()
        self._send(f"gameover {result}")

    def quit(self) -> None:
        """End the process."""
        process = self._process
        if process is None:
            return
        self._send("quit")
        self._process = None
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self._timeouts.stop)
        finally:  # also after Ctrl-C
            kill(process)

    def failure(self, kind: type[EngineError], text: str) -> EngineError:
        """Return an error of this process with its last lines."""
        return kind(text, tuple(self.last_lines))

    # ---- the process and what is sent to it ----

    def _open(self) -> subprocess.Popen[str]:
        # The engine gets a process group of its own: Ctrl-C is for the client, which lets the game end first.
        windows = os.name == "nt"
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        try:
            return subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if self._errors else subprocess.STDOUT,
                cwd=self._folder, text=True, encoding="utf-8", errors="replace", bufsize=1,
                start_new_session=not windows, creationflags=flags,
            )  # fmt: skip
        except OSError as error:
            name = self._command[0]
            reason = reason_of(error) if error.filename == name else text_of(error)
            text = _("{engine} does not start: {reason}").format(engine=name, reason=reason)
            raise EngineError(text) from None

    def _send(self, line: str) -> None:
        process = self._process  # None after `quit` of another thread
        with contextlib.suppress(OSError, ValueError):  # the reading thread reports a process that has ended
            if process is not None and process.stdin is not None:
                process.stdin.write(line + "\n")
                process.stdin.flush()

    def _declared_name(self, name: str) -> str:
        """Return an option's name as the engine spells it. UnknownOption."""
        for known in (*self.declared, *ALWAYS_SET):
            if known.lower() == name.lower():
                return known
        raise UnknownOption(_("{engine} has no option '{name}'").format(engine=self.title, name=name))

    def _set(self, name: str, value: str) -> None:
        try:
            text = self.declared[name].checked(value) if name in self.declared else value
        except ValueError as error:
            message = _("{engine}: {name} must be {value}, not '{text}'")
            texts = {"engine": self.title, "name": name, "value": error, "text": printable(value[:40])}
            raise UnknownOption(message.format(**texts)) from None
        self._send(f"setoption name {name}" + (f" value {text}" if text else ""))

    # ---- waiting ----

    def _await(self, happened: threading.Event, seconds: float, word: str) -> None:
        end = time.monotonic() + seconds
        while not happened.wait(WATCH_SECONDS):
            if time.monotonic() > end:
                raise self._silent(word)
        if self._ended:
            raise self._died()

    def _next(self, number: int, longest: float | None, silence: float | None) -> Answer:
        """Return the next event of this search, which is stopped after its longest time."""
        while True:
            with contextlib.suppress(queue.Empty):
                event = self._events.get(timeout=WATCH_SECONDS)
                if isinstance(event, Answer) and event.search == number:
                    return event
                continue
            if self._ended:
                raise self._died()
            if self._process is None:
                raise RuntimeError("the engine is closed")
            now = time.monotonic()
            if longest is not None and now > self._begun + longest:
                self.stop()
            elif silence and now > self._heard + silence:
                text = _("{engine} says nothing for {seconds} s")
                raise self.failure(EngineSilent, text.format(engine=self.title, seconds=f"{silence:g}"))

    def _silent(self, word: str) -> EngineError:
        text = _("{engine} does not answer {word}").format(engine=self.title, word=word)
        return self.failure(EngineSilent, text)

    def _died(self) -> EngineError:
        """Return the error of a process that has ended."""
        if self._killed:
            return self._silent("stop")
        status = exit_words(self._process.returncode if self._process else None)
        return self.failure(EngineDied, _("{engine} has ended ({status})").format(engine=self.title, status=status))

    # ---- the reading thread ----

    def _read(self, process: subprocess.Popen[str], start: int) -> None:
        assert process.stdout is not None and process.stdin is not None
        try:
            for line in bounded_lines(process.stdout):
                self._heard = time.monotonic()
                self.last_lines.append(line.rstrip())
                self._handle_line(*first_word(line))
        except Exception as error:  # without a reader the process is of no use
            self.last_lines.append(f"{type(error).__name__}: {error}")
            kill(process)
        finally:
            process.stdout.close()
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.wait()
            self._report_end(process, start)

    def _report_end(self, process: subprocess.Popen[str], start: int) -> None:
        with self._lock:
            if self._process is not process or start != self.starts:
                return
            self._ended = True
            for event in (self._usiok, self._readyok, self._idle):
                event.set()  # nobody waits for a process that has ended
        self._post(EngineGone(start, exit_words(process.returncode)))

    def _read_errors(self, output: IO[str]) -> None:
        """Read all of it: a full pipe would stop the engine."""
        assert self._errors is not None
        with output:
            for line in bounded_lines(output):
                with contextlib.suppress(Exception):
                    self._errors(line.rstrip())

    def _handle_line(self, word: str, rest: str) -> None:
        first, text = first_word(rest)
        if word == "info":
            self._take_info(rest)
            if first == "string" and not self._readyok.is_set():
                self._note(_("the engine: {text}").format(text=text))
        elif word == "bestmove":
            self._take_answer(*rest.split()[:3])
        elif word == "id" and first == "name":
            self.name = text
        elif word == "option" and first == "name":
            name, kind = (*re.split(r"\s+type\s+", text, maxsplit=1), "")[:2]
            self.declared[name] = Option.parse(kind)
        elif word in ("usiok", "readyok"):
            (self._usiok if word == "usiok" else self._readyok).set()

    def _take_info(self, text: str) -> None:
        if self._lines.add(parse_info(text)) and self._shows_progress and self.busy:
            self._post(self._answer(None))

    def _take_answer(self, move: str = "", word: str = "", ponder: str = "") -> None:
        with self._lock:
            answer = self._answer(move, ponder if word == "ponder" else "")
            self._idle.set()
        self._post(answer)

    def _answer(self, move: str | None, ponder: str = "") -> Answer:
        lines, seconds = self._lines, time.monotonic() - self._begun
        return Answer(self._searches, move, ponder, lines.best_first(), lines.nodes, seconds)
