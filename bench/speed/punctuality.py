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
import threading
from collections.abc import Iterator
from typing import NamedTuple

from bench.command import new_parser
from usi_engine.clock import Clock, TimeControl
from usi_engine.match.report import print_table
from usi_engine.match.runs import OPENINGS
from usi_engine.records.games import opening_boards
from usi_engine.rules import LiveGame
from usi_engine.usi.arguments import name_value
from usi_engine.usi.process import EngineProcess, own_engine
from usi_engine.usi.protocol import Times

LONGEST_GAME = 160
HALT_SECONDS = 0.3
OPTIONS = {"Threads": "1", "USI_OwnBook": "false", "ResignValue": "99999"}
HALTED_BYOYOMI = 200


class Answer(NamedTuple):
    """Milliseconds that one go took, measured from outside, and milliseconds until the flag."""

    used: float
    allowed: int


def answers(engine: EngineProcess, control: TimeControl) -> Iterator[Answer]:
    """Yield the goes of endless self-play. A clock without main time left continues with byoyomi or increments."""
    for opening in itertools.cycle(opening_boards(OPENINGS)):
        game = LiveGame(opening.sfen(), clock=Clock(control))
        while game.end is None and len(game.moves) < LONGEST_GAME:
            side, clock = game.turn, game.clock
            allowed = clock.left[side] + control.byoyomi
            answer = engine.search(game.position, Times.of(clock, side).words())
            used = answer.seconds * 1000
            yield Answer(used, allowed)
            game.answer(answer.move or "", int(used))


def row(control: TimeControl, taken: list[Answer]) -> list[str]:
    """Return a clock's row of the table."""
    used = [answer.used for answer in taken]
    left = min(answer.allowed - answer.used for answer in taken)
    times = [f"{value:.0f}" for value in (statistics.median(used), min(used), max(used), left)]
    return [str(control), str(len(taken)), *times, str(sum(answer.used > answer.allowed for answer in taken))]


def halted(engine: EngineProcess, goes: int) -> list[float]:
    """Return milliseconds of goes of 200 ms: the median before a halt of the process, then each go after it."""
    steady = answers(engine, TimeControl(0, HALTED_BYOYOMI))
    usual = statistics.median(answer.used for answer in itertools.islice(steady, 10))
    threading.Timer(HALTED_BYOYOMI / 2000, os.kill, (engine.pid, signal.SIGSTOP)).start()
    threading.Timer(HALTED_BYOYOMI / 2000 + HALT_SECONDS, os.kill, (engine.pid, signal.SIGCONT)).start()
    next(steady)
    return [usual, *(answer.used for answer in itertools.islice(steady, goes))]


def measure(engine: EngineProcess, goes: int) -> None:
    """Measure and print every clock, then the halt."""
    clocks = [TimeControl(0, 100), TimeControl(0, 200), TimeControl(0, 1000), TimeControl(10_000, 0, 100)]
    rows = [row(clock, list(itertools.islice(answers(engine, clock), goes))) for clock in clocks]
    print_table(["clock", "goes", "median used", "least", "most", "least left", "late"], rows)
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
    parser.add_argument("--options", type=name_value, nargs="*", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args()
    engine = EngineProcess(own_engine(), OPTIONS | dict(chosen.options))
    try:
        engine.prepare()
        measure(engine, chosen.goes)
    finally:
        engine.quit()


if __name__ == "__main__":
    main()
