"""How well the engine keeps its clocks: time used and late answers, and its caution after one halt of the process.

    python -m bench.speed.punctuality [--goes 60] [--options NAME=VALUE ...]

Plays against itself from the openings, on byoyomi of 100, 200 and 1,000 ms and with 10 s and 100 ms a move, and
measures every answer from outside. An answer is late where it comes after the flag. Then the process is halted for
0.3 s (SIGSTOP) during one go of 200 ms; the goes after it show how soon the usual time is used again.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench import OPENINGS
from bench.strength.mates_in_play import Engine
from bench.table import print_table
from core_ext.board import Board
from usi_engine.player import read_openings

LONGEST_GAME = 160
HALT_SECONDS = 0.3
HALTED_BYOYOMI = 200


@dataclass(frozen=True)
class Clock:
    """Milliseconds of each side."""

    main: int
    byoyomi: int
    increment: int = 0

    def __str__(self) -> str:
        return f"{self.main} + {self.increment}" if self.main else f"byoyomi {self.byoyomi}"

    def go(self, left: list[int]) -> str:
        """The command, with this much main time left of Black's and of White's."""
        words = f"go btime {left[0]} wtime {left[1]} "
        return words + (f"byoyomi {self.byoyomi}" if self.byoyomi else f"binc {self.increment} winc {self.increment}")


@dataclass(frozen=True)
class Answer:
    """One go: the milliseconds it took, seen from outside, and those that it could take."""

    used: float
    allowed: int

    @property
    def late(self) -> bool:
        """After the flag."""
        return self.used > self.allowed


def ask(engine: Engine, board: Board, go: str) -> tuple[str, float]:
    """The move and the milliseconds of one go."""
    engine.send(f"position sfen {board.sfen()}")
    engine.ask("isready", "readyok")
    begun = time.perf_counter()
    lines = engine.ask(go, "bestmove")
    return lines[-1].split()[1], (time.perf_counter() - begun) * 1000


def answers(engine: Engine, clock: Clock) -> Iterator[Answer]:
    """Goes of games against itself, without end. A clock that ran out goes on with what each move renews."""
    for opening in itertools.cycle(read_openings(OPENINGS)):
        board, left = Board(opening), [clock.main, clock.main]
        for _ in range(LONGEST_GAME):
            side = board.turn
            move, used = ask(engine, board, clock.go(left))
            yield Answer(used, left[side] + clock.byoyomi)
            if not board.is_legal(move):  # resign or win
                break
            board.push(move)
            left[side] = max(left[side] - int(used), 0) + clock.increment if clock.main else 0


def row(clock: Clock, taken: list[Answer]) -> list[str]:
    """One line of the table of clocks."""
    used = [answer.used for answer in taken]
    left = min(answer.allowed - answer.used for answer in taken)
    median, most = statistics.median(used), max(used)
    late = sum(answer.late for answer in taken)
    return [str(clock), str(len(taken)), f"{median:.0f}", f"{min(used):.0f}", f"{most:.0f}", f"{left:.0f}", str(late)]


def halted(engine: Engine, goes: int) -> list[float]:
    """Milliseconds of goes of 200 ms: the median before the process is halted during one, and those after it."""
    steady = answers(engine, Clock(0, HALTED_BYOYOMI))
    usual = statistics.median(answer.used for answer in itertools.islice(steady, 10))
    threading.Timer(HALTED_BYOYOMI / 2000, os.kill, (engine.pid, signal.SIGSTOP)).start()
    threading.Timer(HALTED_BYOYOMI / 2000 + HALT_SECONDS, os.kill, (engine.pid, signal.SIGCONT)).start()
    next(steady)
    return [usual, *(answer.used for answer in itertools.islice(steady, goes))]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goes", type=int, default=60, help="of each clock")
    parser.add_argument("--options", nargs="*", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    with Engine(["Threads=1", "USI_OwnBook=false", "ResignValue=99999", *arguments.options]) as engine:
        measure(engine, arguments.goes)


def measure(engine: Engine, goes: int) -> None:
    """Every clock, then the halt."""
    clocks = [Clock(0, 100), Clock(0, 200), Clock(0, 1000), Clock(10_000, 0, 100)]
    rows = [row(clock, list(itertools.islice(answers(engine, clock), goes))) for clock in clocks]
    print_table(["clock in ms", "goes", "median used", "least", "most", "least left", "late"], rows)
    if not hasattr(signal, "SIGSTOP"):
        print("a process cannot be halted on this system: the caution after a halt was not measured")
        return
    usual, *after = halted(engine, goes)
    print(f"byoyomi {HALTED_BYOYOMI}: {usual:.0f} ms usually; after a halt of {HALT_SECONDS * 1000:.0f} ms:")
    for first in range(0, len(after), 10):
        ten = after[first : first + 10]
        print(f"  goes {first + 1:2} to {first + len(ten):2}: " + " ".join(f"{used:.0f}" for used in ten))


if __name__ == "__main__":
    main()
