"""USI conversations with a scripted and the real core, and answering times of the program."""

from __future__ import annotations

import statistics
import textwrap
import time

import pytest

from tests.engine.conftest import SMALL_TABLE
from tests.engine.usi_transport import InProcess, Program, Transport
from tests.positions import DATA

SECTIONS = (DATA / "transcripts.txt").read_text(encoding="utf-8").split("\n\n# ")[1:]
TRANSCRIPTS: dict[str, str] = dict(section.split("\n", 1) for section in SECTIONS)


def converse(engine: Transport, text: str) -> None:
    """Hold a conversation."""
    for step in textwrap.dedent(text).strip().splitlines():
        kind, _, rest = step.partition(" ")
        lines = rest.split(" ; ")
        if kind == ">":
            engine.send(*lines)
        elif kind == "<":
            for pattern in lines:
                engine.expect(pattern)
        elif kind == "!":
            seconds, _, pattern = rest.partition(" ")
            engine.silent(pattern, float(seconds))
        else:
            assert kind == "|", step
            engine.end_input()


@pytest.mark.parametrize("name", [name for name, text in TRANSCRIPTS.items() if not text.startswith("=")])
def test_transcript(engine: InProcess, name: str) -> None:
    """The lines come as expected, every go has one answer, and `quit` or the end of input ends the engine."""
    if name != "usi":
        engine.send(SMALL_TABLE)
    converse(engine, TRANSCRIPTS[name])
    if "|" not in TRANSCRIPTS[name].split() and "quit" not in TRANSCRIPTS[name]:
        engine.send("quit")
    engine.drain()
    assert engine.is_settled()


@pytest.mark.parametrize(
    "data",
    [b"usi", b"\xef\xbb\xbfusi\r\n", b"usi\r\n", b"  usi  \n", b"\x00\xff\xfe\nusi\n",
     *("setoption name BookFile value 定跡.db\nusi\n".encode(encoding) for encoding in ("cp932", "utf-8"))],
)  # fmt: skip
def test_bytes(engine: InProcess, data: bytes) -> None:
    """BOM, line ends and encodings make no difference, nor that the last line has no end."""
    engine.send_bytes(data)
    engine.end_input()
    assert "usiok" in engine.drain()


def median_seconds(program: Program, go: str, tries: int, after: list[str]) -> float:
    """Return the median time to bestmove, counted from the last line sent."""
    taken = []
    for number in range(tries):
        for line in (go, *after):
            program.silent("^bestmove", 0.03 * number if line != go else 0.0)
            begun = time.perf_counter()
            program.send(line)
        program.expect("^bestmove")
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


@pytest.mark.parametrize(
    ("go", "after", "least", "most"),
    [("go infinite", ["stop"], 0.0, 0.020), ("go byoyomi 100", [], 0.02, 0.1),
     ("go btime 0 wtime 0 byoyomi 1000", [], 0.2, 1.0)],
)  # fmt: skip
def test_answering_time(program: Program, go: str, after: list[str], least: float, most: float) -> None:
    """The answer to a stop is prompt; others come before the flag falls, and use a fifth of the time or more."""
    program.send("setoption name Threads value 2", SMALL_TABLE, "isready")
    program.expect("^readyok$")
    assert least < median_seconds(program, go, 9 if most < 1 else 1, after) < most
