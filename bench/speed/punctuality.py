"""Measure how well the engine keeps its clocks: time used, late answers, and recovery after a halt of the process.

    python -m bench.speed.punctuality [--goes 60] [--options NAME=VALUE ...]

Plays against itself from the openings with byoyomi of 100, 200 and 1,000 ms and with 10 s and 100 ms a move, and times
every answer from outside. An answer is late if it comes after the flag. Then the process is halted for 0.3 s (SIGSTOP)
during one go of 200 ms; the goes after it show how soon the engine uses its usual time again.
"""

import itertools
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from bench import OPENINGS
from bench.command import new_parser
from bench.table import print_table
from core_ext.board import Board
from usi_engine.learn.player import read_openings

LONGEST_GAME = 160
HALT_SECONDS = 0.3
HALTED_BYOYOMI = 200


class Engine:
    """This engine in a process of its own, until `close`."""

    def __init__(self, options: list[str]) -> None:
        command = [sys.executable, "-m", "usi_engine"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid = self._process.pid
        self.ask("usi", "usiok")
        for option in options:
            name, _, value = option.partition("=")
            self.send(f"setoption name {name} value {value}")
        self.ask("isready", "readyok")

    def close(self) -> None:
        self._process.communicate("quit\n")

    def send(self, line: str) -> None:
        """Send one command."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")

    def ask(self, line: str, end: str) -> str:
        """Send a command; return the first line that begins with `end`. Raises RuntimeError if the engine ends."""
        self.send(line)
        for text in self._process.stdout or ():
            if text.startswith(end):
                return text.strip()
        raise RuntimeError(f"the engine ended before '{end}'")


class Clock(NamedTuple):
    """Time control of each side, in milliseconds."""

    main: int
    byoyomi: int
    increment: int = 0

    def __str__(self) -> str:
        return f"{self.main} + {self.increment}" if self.main else f"byoyomi {self.byoyomi}"

    def go(self, left: list[int]) -> str:
        """Return the go command for the main time left of Black and White."""
        extra = f"byoyomi {self.byoyomi}" if self.byoyomi else f"binc {self.increment} winc {self.increment}"
        return f"go btime {left[0]} wtime {left[1]} {extra}"


class Answer(NamedTuple):
    """Milliseconds that one go took, measured from outside, and milliseconds until the flag."""

    used: float
    allowed: int


def answers(engine: Engine, clock: Clock) -> Iterator[Answer]:
    """Yield the goes of endless self-play. A clock without main time left continues with byoyomi or increments."""
    for opening in itertools.cycle(read_openings(OPENINGS)):
        board, left = Board(opening), [clock.main, clock.main]
        for _ in range(LONGEST_GAME):
            side = board.turn
            engine.send(f"position sfen {board.sfen()}")
            engine.ask("isready", "readyok")
            begun = time.perf_counter()
            move = engine.ask(clock.go(left), "bestmove").split()[1]
            used = (time.perf_counter() - begun) * 1000
            yield Answer(used, left[side] + clock.byoyomi)
            if not board.is_legal(move):  # resign or win
                break
            board.push(move)
            left[side] = max(left[side] - int(used), 0) + clock.increment if clock.main else 0


def row(clock: Clock, taken: list[Answer]) -> list[str]:
    """Return a clock's row of the table."""
    used = [answer.used for answer in taken]
    left = min(answer.allowed - answer.used for answer in taken)
    times = [f"{value:.0f}" for value in (statistics.median(used), min(used), max(used), left)]
    return [str(clock), str(len(taken)), *times, str(sum(answer.used > answer.allowed for answer in taken))]


def halted(engine: Engine, goes: int) -> list[float]:
    """Return milliseconds of goes of 200 ms: the median before a halt of the process, then each go after it."""
    steady = answers(engine, Clock(0, HALTED_BYOYOMI))
    usual = statistics.median(answer.used for answer in itertools.islice(steady, 10))
    threading.Timer(HALTED_BYOYOMI / 2000, os.kill, (engine.pid, signal.SIGSTOP)).start()
    threading.Timer(HALTED_BYOYOMI / 2000 + HALT_SECONDS, os.kill, (engine.pid, signal.SIGCONT)).start()
    next(steady)
    return [usual, *(answer.used for answer in itertools.islice(steady, goes))]


def measure(engine: Engine, goes: int) -> None:
    """Measure and print every clock, then the halt."""
    clocks = [Clock(0, 100), Clock(0, 200), Clock(0, 1000), Clock(10_000, 0, 100)]
    rows = [row(clock, list(itertools.islice(answers(engine, clock), goes))) for clock in clocks]
    print_table(["clock in ms", "goes", "median used", "least", "most", "least left", "late"], rows)
    if not hasattr(signal, "SIGSTOP"):
        print("this system cannot halt a process: the caution after a halt was not measured")
        return
    usual, *after = halted(engine, goes)
    print(f"byoyomi {HALTED_BYOYOMI}: {usual:.0f} ms usually; after a halt of {HALT_SECONDS * 1000:.0f} ms:")
    for first in range(0, len(after), 10):
        ten = after[first : first + 10]
        print(f"  goes {first + 1:2} to {first + len(ten):2}: " + " ".join(f"{used:.0f}" for used in ten))


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument("--goes", type=int, default=60, help="number for each clock")
    parser.add_argument("--options", nargs="*", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args()
    with closing(Engine(["Threads=1", "USI_OwnBook=false", "ResignValue=99999", *chosen.options])) as engine:
        measure(engine, chosen.goes)


if __name__ == "__main__":
    main()
