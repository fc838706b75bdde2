"""A USI engine as a process, this engine or any other.

A thread reads its output: it sets the events of the handshake and posts each `bestmove`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from usi_engine.language import _, reason_of, text_of
from usi_engine.usi.options import Option
from usi_engine.usi.output import printable

LAST_LINES = 5
LONGEST_LINE = 1 << 20  # letters; the rest counts as another line
SCORE = re.compile(r" score (cp|mate) ([+-]?\d{0,9})(?= |$)")
PV = re.compile(r" pv (.+)$")
OTHER_LINE = re.compile(r" (?:string|lowerbound|upperbound|multipv (?!1 ))")
# A mate in n plies has the value MATE - n, as with other programs on floodgate.
MATE, LONGEST_MATE = 30_000, 9_999
# GUIs set these even if an engine does not declare them.
ALWAYS_SET = frozenset({"USI_Hash", "USI_Ponder"})
MAX_MOVES = "MaxMovesToDraw"


class EngineError(Exception):
    """An engine that cannot be used: one line, and the last lines of its output if the caller added them."""

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
class Thought:
    """A search's value in centipawns for the side to move and its line; None and empty if it reported none."""

    value: int | None = None
    pv: tuple[str, ...] = ()


@dataclass(frozen=True)
class BestMove:
    """The answer to search number `search`."""

    search: int
    move: str
    ponder: str = ""
    thought: Thought = Thought()


@dataclass(frozen=True)
class EngineGone:
    """The process has ended by itself; `start` counts its starts."""

    start: int


EngineEvent = BestMove | EngineGone


def thought_of(line: str) -> Thought | None:
    """Parse an info line; None without an exact value, and for other lines of MultiPV than the first."""
    score = SCORE.search(line)
    if score is None or OTHER_LINE.search(line):
        return None
    pv = PV.search(line)
    return Thought(value_of(score[1], score[2]), tuple(pv[1].split()) if pv else ())


def value_of(kind: str, text: str) -> int | None:
    """Return centipawns; a mate of unknown length, `+` or `-`, counts as a long one."""
    digits = text.lstrip("+-")
    if kind == "cp":
        return int(text) if digits else None
    size = MATE - min(int(digits or LONGEST_MATE), LONGEST_MATE)
    return -size if text.startswith("-") else size


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


class Engine:
    """An engine process, whose reading thread passes events to `post`.

    `note` gets the engine's messages before it is ready (an option refused, a file not found), `info` each info line,
    `errors` each line of standard error. Without `errors`, `stderr` is that of `subprocess.Popen`.
    """

    def __init__(
        self,
        command: Sequence[str],
        options: Mapping[str, str],
        post: Callable[[EngineEvent], None],
        folder: Path | None = None,
        note: Callable[[str], None] = lambda text: None,
        *,
        stderr: int | None = None,
        timeouts: Timeouts = USUAL_TIMEOUTS,
        info: Callable[[str], None] = lambda line: None,
        errors: Callable[[str], None] | None = None,
    ) -> None:
        self._command, self._options, self._post, self._folder = list(command), dict(options), post, folder
        self._note, self._stderr, self._timeouts, self._info = note, stderr, timeouts, info
        self._errors = errors
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES)  # of the output
        self._usiok, self._readyok, self._idle = threading.Event(), threading.Event(), threading.Event()
        self._answers: set[str] = set()  # of `usiok` and `readyok`; their events are also set when the process ends
        self._lock, self._going = threading.Lock(), threading.Lock()
        self.killed = False  # because it did not answer `stop`
        self.starts = self._searches = 0
        self._process: subprocess.Popen[str] | None = None
        self.declared: dict[str, Option] = {}
        self.name = ""

    @property
    def busy(self) -> bool:
        """True during a search."""
        return not self._idle.is_set()

    def start(self) -> None:
        """Start the process and set its options. EngineError."""
        self.starts += 1
        self._usiok.clear()
        self._answers.clear()
        self._idle.set()
        self._process = self._open()
        threading.Thread(target=self._read, args=(self._process, self.starts), daemon=True).start()
        if self._errors and self._process.stderr:
            threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True).start()
        self._send("usi")
        self._await(self._usiok, self._timeouts.start, "usiok")
        for name, value in self._options.items():
            self._set(name, value)

    def set_option(self, name: str, value: str) -> None:
        """Set an option, also of a process started again; a button has no value. UnknownOption."""
        self._set(name, value)
        if value:
            self._options[name] = value

    def _set(self, name: str, value: str) -> None:
        engine, known = self.name or self._command[0], {each.lower(): each for each in (*ALWAYS_SET, *self.declared)}
        if name.lower() not in known:
            raise UnknownOption(_("{engine} has no option '{name}'").format(engine=engine, name=name))
        name = known[name.lower()]
        try:
            text = self.declared[name].checked(value) if name in self.declared else value
        except ValueError as error:
            message = _("{engine}: {name} must be {value}, not '{text}'")
            texts = {"engine": engine, "name": name, "value": error, "text": printable(value[:40])}
            raise UnknownOption(message.format(**texts)) from None
        self._send(f"setoption name {name}" + (f" value {text}" if text else ""))

    def prepare(self, max_moves: int = 0) -> None:
        """Wait until the engine is ready for a game, which takes long only the first time. EngineError.

        The game is a draw after `max_moves`; an engine with that option is told. A process that has ended is restarted.
        """
        self._answers.discard("readyok")
        self._readyok.clear()  # before the check below: a process that ends from now on sets it
        if self._process is None or self._process.poll() is not None:
            self.start()
        if MAX_MOVES in self.declared and MAX_MOVES not in self._options:
            self._set(MAX_MOVES, str(max_moves))
        self._send("isready")
        self._await(self._readyok, self._timeouts.ready, "readyok")

    def new_game(self) -> None:
        """Tell the engine that a game begins."""
        self._send("usinewgame")

    def go(self, position: str, clocks: str, ponder: bool = False) -> int:
        """Begin a search and return its number. A search that still runs is stopped first."""
        self.stop()
        with self._going:  # a `stop` of another thread comes after the go
            with self._lock:
                self._searches += 1
                process = self._process
                if process is not None and process.poll() is None:
                    self._idle.clear()  # only the end of a process sets it without an answer
            self._send(position)
            self._send(f"go ponder {clocks}" if ponder else f"go {clocks}")
        return self._searches

    def ponderhit(self) -> None:
        """Tell the engine that the opponent made the expected move."""
        self._send("ponderhit")

    def stop(self) -> None:
        """End a running search and wait for its answer; its event is still posted."""
        process = self._process
        if self.busy and process is not None:
            with self._going:
                self._send("stop")
            if not self._idle.wait(self._timeouts.stop):
                self.killed = True
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

    def _open(self) -> subprocess.Popen[str]:
        # The engine gets a process group of its own: Ctrl-C is for the client, which lets the game end first.
        windows = os.name == "nt"
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        try:
            return subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if self._errors else self._stderr,
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

    def _await(self, happened: threading.Event, seconds: float, word: str) -> None:
        if not happened.wait(seconds) or word not in self._answers:
            kind = EngineDied if happened.is_set() else EngineSilent
            raise kind(_("{engine} does not answer {word}").format(engine=self._command[0], word=word))

    def _read(self, process: subprocess.Popen[str], start: int) -> None:
        assert process.stdout is not None and process.stdin is not None
        try:
            self._read_lines(process.stdout)
        except Exception as error:  # without a reader the process is of no use
            self.last_lines.append(f"{type(error).__name__}: {error}")
            kill(process)
        finally:
            process.stdout.close()
            with contextlib.suppress(OSError):
                process.stdin.close()
            if self._process is process and start == self.starts:
                self._report_end(process, start)

    def _report_end(self, process: subprocess.Popen[str], start: int) -> None:
        process.wait()
        for event in (self._usiok, self._readyok, self._idle):
            event.set()  # nobody waits for a process that has ended
        self._post(EngineGone(start))

    def _read_errors(self, output: IO[str]) -> None:
        """Read all of it: a full pipe would stop the engine."""
        assert self._errors is not None
        with output:
            for line in bounded_lines(output):
                with contextlib.suppress(Exception):
                    self._errors(line.rstrip())

    def _read_lines(self, output: IO[str]) -> None:
        thought = Thought()
        for line in bounded_lines(output):
            self.last_lines.append(line.rstrip())
            word, _space, rest = line.strip().partition(" ")
            if word == "info":
                thought = thought_of(line.rstrip()) or thought
                self._info(line.rstrip())
                if rest.startswith("string ") and not self._readyok.is_set():
                    self._note(_("the engine: {text}").format(text=rest.removeprefix("string ")))
            elif word == "bestmove":
                self._answered(rest.split(), thought)
                thought = Thought()
            else:
                self._handle_line(word, rest)

    def _handle_line(self, word: str, rest: str) -> None:
        if word == "id" and rest.startswith("name "):
            self.name = rest.removeprefix("name ")
        elif word == "option":
            name, _type, kind = rest.removeprefix("name ").partition(" type ")
            self.declared[name] = Option.parse(kind)
        elif word in ("usiok", "readyok"):
            self._answers.add(word)
            (self._usiok if word == "usiok" else self._readyok).set()

    def _answered(self, words: list[str], thought: Thought) -> None:
        ponder = words[2] if len(words) > 2 and words[1] == "ponder" else ""
        with self._lock:
            answered = self._searches
            self._idle.set()
        self._post(BestMove(answered, words[0] if words else "resign", ponder, thought))
