"""USI conversations with both engines, the scripted and the real one; the real one's answering times."""

from __future__ import annotations

import statistics
import textwrap
import time

import pytest

from tests.engine.conftest import SMALL_TABLE
from tests.engine.transcripts import TRANSCRIPTS
from tests.engine.usi_transport import InProcess, Program


def converse(engine: InProcess, text: str) -> tuple[int, int]:
    """Hold a conversation; returns how many goes and go mates were sent."""
    goes = mates = 0
    for step in textwrap.dedent(text).strip().splitlines():
        kind, _, rest = step.partition(" ")
        if kind == ">":
            lines = rest.split("\\n")
            engine.send(*lines)
            goes += sum(line.split()[:1] == ["go"] for line in lines)
            mates += sum(line.split()[:2] == ["go", "mate"] for line in lines)
        elif kind == "<":
            engine.expect(rest)
        elif kind == "!":
            seconds, _, pattern = rest.partition(" ")
            engine.silent(pattern, float(seconds))
        else:
            assert kind == "|", step
            engine.end_input()
    return goes - mates, mates


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(engine: InProcess, name: str) -> None:
    """The lines come as expected; every go has one answer; `quit` or the end of input ends the engine."""
    if name != "usi":
        engine.send(SMALL_TABLE)
    goes, mates = converse(engine, TRANSCRIPTS[name])
    if "|" not in TRANSCRIPTS[name].split() and "quit" not in TRANSCRIPTS[name]:
        engine.send("quit")
    engine.drain()
    assert sum(line.startswith("bestmove") for line in engine.seen) == goes
    assert sum(line.startswith("checkmate") for line in engine.seen) == mates


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfusi\r\n",
        b"usi\r\n",
        b"  usi  \n",
        "setoption name BookFile value 定跡.db\nusi\n".encode("cp932"),
        "setoption name BookFile value 定跡.db\nusi\n".encode(),
        b"\x00\xff\xfe\nusi\n",
    ],
)
def test_bytes(engine: InProcess, data: bytes) -> None:
    """BOM, line ends and encodings make no difference."""
    engine.send_bytes(data)
    engine.expect("^usiok$")


def test_last_line_without_its_end(engine: InProcess) -> None:
    """Input may end in the middle of a line; what stands there counts."""
    engine.send_bytes(b"usi")
    engine.end_input()
    assert "usiok" in engine.drain()


def test_stop_is_answered_at_once(program: Program) -> None:
    """Stop to bestmove: 20 ms at most, in the median of 15; in a deep search, with two threads."""
    program.send("setoption name Threads value 2", SMALL_TABLE, "isready")
    program.expect("^readyok$")
    delays = []
    for number in range(15):
        program.send("go infinite")
        program.silent("^bestmove", 0.02 * number)
        begun = time.perf_counter()
        program.send("stop")
        program.expect("^bestmove")
        delays.append(time.perf_counter() - begun)
    assert statistics.median(delays) < 0.020, delays


@pytest.mark.parametrize(("go", "most"), [("go byoyomi 100", 0.1), ("go btime 0 wtime 0 byoyomi 1000", 1.0)])
def test_time_is_kept(program: Program, go: str, most: float) -> None:
    """Answers come before the flag falls and no sooner than after a fifth of the byoyomi (measured lateness increases
    the safety margin); the median of several, as other programs may hold the processor.
    """
    program.send(SMALL_TABLE, "isready")
    program.expect("^readyok$")
    taken = []
    for _ in range(5 if most < 1 else 3):
        begun = time.perf_counter()
        program.send(go)
        program.expect("^bestmove")
        taken.append(time.perf_counter() - begun)
    assert most / 5 < statistics.median(taken) < most, taken
