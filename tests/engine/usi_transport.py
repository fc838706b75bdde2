"""USI with an engine in this process or with the real program through pipes.

Every test checks that each bestmove and pv is legal in the position that was sent.
"""

import os
import queue
import re
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, BinaryIO

from core_ext.board import Board
from tests.programs import ENGINE, ROOT, resident_megabytes
from usi_engine.core import Core
from usi_engine.game.loop import serve
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Command, Go, GoMate, SetPosition, Word, decode, parse

TIMEOUT = 20.0
# Tests expect a search; tests of books turn it on again.
NO_BOOK = b"setoption name USI_OwnBook value false\n"
# Characters that act on a terminal: controls, separators of lines, marks of the direction of text.
ACTING = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
INFO = re.compile(
    r"info (string \S.*|(depth \d+ seldepth \d+ )?(score (cp -?\d+|mate -?[1-9]\d*)( lowerbound| upperbound)? )?"
    r"nodes \d+ nps \d+ hashfull \d+ time \d+( multipv [1-9]\d* pv( [1-9PLNSGBR][a-i*][1-9][a-i]\+?)+)?)"
)


class NoLine(AssertionError):
    """An expected line did not come."""


class Transport:
    """Lines to and from an engine. Subclasses define `_write` and put raw lines into `_received`, b"" at the end."""

    def __init__(self) -> None:
        self._received: queue.Queue[bytes] = queue.Queue()
        self.seen: list[str] = []
        self.roots: list[Board | None] = []  # of each go; None if the last position was refused
        self.answered = 0
        self.asked = {"usiok": 0, "readyok": 0}
        self._root: Board | None = Board()
        self.ended = False

    def send(self, *lines: str) -> None:
        """Send lines, in one piece."""
        self.send_bytes("".join(line + "\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            self._note(parse(decode(line)))
        self._write(data)

    def expect(self, pattern: str, timeout: float = TIMEOUT) -> str:
        """Return the next line that matches; skip those before it."""
        deadline = time.monotonic() + timeout
        while True:
            line = self.line(deadline - time.monotonic())
            if line is None:
                raise NoLine(f"no line matches '{pattern}'; seen: {self.seen[-12:]}")
            if re.search(pattern, line):
                return line

    def ask(self, *lines: str, answer: str | Sequence[str] = "^bestmove") -> str:
        """Send lines; return the line that answers them, the last one of several."""
        self.send(*lines)
        return [self.expect(one) for one in ([answer] if isinstance(answer, str) else answer)][-1]

    def silent(self, pattern: str, seconds: float) -> None:
        """Check that no line matches for so long."""
        deadline = time.monotonic() + seconds
        while (line := self.line(deadline - time.monotonic())) is not None:
            assert not re.search(pattern, line), f"{line!r} came too early"

    def line(self, seconds: float) -> str | None:
        """Return the next line, checked; None if none comes in time or the output has ended."""
        try:
            raw = self._received.get(timeout=max(seconds, 0.0)) if not self.ended else b""
        except queue.Empty:
            return None
        if not raw:
            self.ended = True
            return None
        line = self._checked(raw)
        self.seen.append(line)
        self._check_moves(line)
        return line

    def drain(self, seconds: float = TIMEOUT) -> list[str]:
        """Return all lines up to the end of output."""
        begun, deadline = len(self.seen), time.monotonic() + seconds
        while not self.ended:
            if self.line(deadline - time.monotonic()) is None and not self.ended:
                raise NoLine("the engine does not end")
        return self.seen[begun:]

    def _note(self, command: Command) -> None:
        """Keep the position of each go, and what must be answered."""
        if isinstance(command, SetPosition):
            self._root = None
            with suppress(ValueError):
                self._root = Board.from_moves(command.moves, command.sfen)
        elif isinstance(command, Go | GoMate):
            self.roots.append(self._root and self._root.copy())
        elif command in (Word.USI, Word.IS_READY):
            self.asked["usiok" if command is Word.USI else "readyok"] += 1

    def is_settled(self) -> bool:
        """Return whether every `go`, `usi` and `isready` has had its one answer."""
        return self.answered == len(self.roots) and all(
            sum(line == word for line in self.seen) == count for word, count in self.asked.items()
        )

    def _checked(self, raw: bytes) -> str:
        """Return a line of UTF-8 without control characters or double spaces."""
        assert raw.endswith(b"\n"), raw
        line = raw[:-1].decode("utf-8")
        assert not ACTING.search(line), line
        assert not line.startswith("info") or INFO.fullmatch(line), line
        board_drawing = not line.startswith(("info", "bestmove", "option", "id ", "checkmate"))
        assert board_drawing or (line == line.strip() and "  " not in line), line
        return line

    def _check_moves(self, line: str) -> None:
        """Check that moves are legal."""
        words = line.split()
        if line.startswith("info") and " pv " in line:
            self._play(words[words.index("pv") + 1 :])
        elif line.startswith(("bestmove", "checkmate")):
            assert self.answered < len(self.roots), "an answer without a go"
            if words[0] == "bestmove" and words[1] not in ("resign", "win"):
                assert len(words) == 2 or (len(words) == 4 and words[2] == "ponder"), line
                self._play(words[1::2])
                self._check_last_info(words[1])
            elif words[0] == "checkmate" and words[1] not in ("nomate", "timeout", "notimplemented"):
                self._play(words[1:])
            self.answered += 1

    def _play(self, moves: list[str]) -> None:
        """Make moves in the position that is searched now, which must be legal."""
        root = self.roots[self.answered]
        assert root is not None, "a search of a position that was refused"
        Board.from_moves(moves, root.sfen())

    def _check_last_info(self, move: str) -> None:
        """Check that the line before a bestmove is its own: multipv 1, exact."""
        before = self.seen[-2] if len(self.seen) > 1 else ""
        if " pv " in before:
            assert f" multipv 1 pv {move}" in before and "bound" not in before, (before, move)

    def _write(self, data: bytes) -> None:
        raise NotImplementedError

    def end_input(self) -> None:
        raise NotImplementedError

    def end(self, way: str) -> None:
        """Send this line, or end the input if it is `end of input`."""
        if way == "end of input":
            self.end_input()
        else:
            self.send(way)


class InProcess(Transport):
    """The engine on a thread of this process, with any core."""

    def __init__(self, load: Callable[[], Core]) -> None:
        super().__init__()
        reading, writing = os.pipe()
        self._source: BinaryIO = os.fdopen(reading, "rb")
        self._sink: BinaryIO = os.fdopen(writing, "wb", buffering=0)
        self._thread = threading.Thread(target=self._serve, args=(load,), daemon=True)
        self._thread.start()
        self._write(NO_BOOK)

    def _serve(self, load: Callable[[], Core]) -> None:
        def write(data: bytes) -> None:
            for line in data.splitlines(keepends=True):
                self._received.put(line)

        stream: Any = SimpleNamespace(write=write, flush=lambda: None)
        try:
            serve(self._source, Writer(stream), load)
        finally:
            self._received.put(b"")

    def _write(self, data: bytes) -> None:
        self._sink.write(data)

    def end_input(self) -> None:
        self._sink.close()

    def close(self) -> None:
        """End the engine in any state."""
        self._sink.close()
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), "the engine does not end"
        self._source.close()


class Program(Transport):
    """The real program; without arguments it plays with the material value, which needs no time to load."""

    def __init__(
        self, *arguments: str, cwd: str | None = None, evaluation: str = "material", program: Sequence[str] = ENGINE
    ) -> None:
        super().__init__()
        pipe = subprocess.PIPE
        command = [*program, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=environment)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        if not arguments:
            self._write(NO_BOOK)
        if not arguments and evaluation:
            self._write(f"setoption name EvalFile value {evaluation}\n".encode())

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._received.put(line)
        self._received.put(b"")

    def _write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def megabytes(self) -> int:
        """Return the resident memory; 0 on other systems than Linux."""
        return resident_megabytes(self.process.pid)

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def close(self) -> None:
        """End the engine in any state; its status must be 0 and its error stream empty."""
        assert self.process.stdin is not None and self.process.stderr is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            status = self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
        self._thread.join(TIMEOUT)
        errors = self.process.stderr.read()
        self.process.stderr.close()
        self.process.stdout.close()
        assert (status, errors) == (0, b"")
