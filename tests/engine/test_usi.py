"""USI: lines that are read and printed, conversations with a scripted and the real core, answering times."""

import io
import textwrap
import time
from dataclasses import replace
from typing import Any

import pytest

from core_ext.engine import MATE, MATE_BOUND, MAX_EVALUATION
from tests.engine.conftest import SMALL_TABLE
from tests.engine.usi_transport import InProcess, Program, Transport
from tests.positions import DATA, described, described_rows
from usi_engine.game.thinking import info_lines
from usi_engine.search.iterative import analysis_of
from usi_engine.search.results import Score, Variation
from usi_engine.usi import protocol as usi
from usi_engine.usi.options import LARGEST
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import parse

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


def seconds_to_answer(program: Program, go: str, tries: int, after: list[str]) -> float:
    """Return the least time to bestmove, counted from the last line sent: other tests run at the same time."""
    taken = []
    for number in range(tries):
        for line in (go, *after):
            program.silent("^bestmove", 0.03 * number if line != go else 0.0)
            begun = time.perf_counter()
            program.send(line)
        program.expect("^bestmove")
        taken.append(time.perf_counter() - begun)
    return min(taken)


@pytest.mark.parametrize(
    ("go", "after", "least", "most"),
    [("go infinite", ["stop"], 0.0, 0.020), ("go byoyomi 100", [], 0.02, 0.1),
     ("go btime 0 wtime 0 byoyomi 1000", [], 0.2, 1.0)],
)  # fmt: skip
def test_answering_time(program: Program, go: str, after: list[str], least: float, most: float) -> None:
    """The answer to a stop is prompt; others come before the flag falls, and use a fifth of the time or more."""
    program.send("setoption name Threads value 2", SMALL_TABLE, "isready")
    program.expect("^readyok$")
    assert least < seconds_to_answer(program, go, 9 if most < 1 else 1, after) < most


@pytest.mark.parametrize(("line", "command"), described_rows("usi_lines.jsonl"))
def test_read(line: str, command: Any) -> None:
    assert described(parse(line)) == command


@pytest.mark.parametrize(
    "line",
    ["setoption", "setoption name", "setoption Threads 1", "setoption name Two Words value 1",
     "perft", "perft 0", "perft x", "bench x", "bench 0"],
)  # fmt: skip
def test_malformed_lines_are_quoted(line: str) -> None:
    command = parse(line)
    assert isinstance(command, usi.Malformed)
    assert all(word in command.text for word in line.split()[1:])


def test_numbers() -> None:
    assert [usi.read_number(text) for text in ("7", "7.9", "-7", "1e400", "nan", "inf", "1_0", "x")] == [
        7, 7, 0, LARGEST, None, None, None, None,
    ]  # fmt: skip
    assert usi.read_number("1e300") == LARGEST and usi.read_number("9", 5) == 5


def test_open_ended() -> None:
    ended = ("go depth 1", "go nodes 1", "go movetime 1", "go byoyomi 0", "go btime 0 wtime 0")
    assert [parse(line).open_ended() for line in ended] == [False] * 5  # type: ignore[union-attr]
    unended = ("go", "go infinite", "go ponder", "go searchmoves 7g7f", "go infinite depth 3")
    assert [parse(line).open_ended() for line in unended] == [True] * 5  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "bound", "score"),
    [
        (-30, "exact", "cp -30"),
        (30, "lower", "cp 30 lowerbound"),
        (30, "upper", "cp 30 upperbound"),
        (MATE - 5, "exact", "mate 5"),
        (4 - MATE, "exact", "mate -4"),
        (MATE_BOUND - 1, "exact", f"cp {MAX_EVALUATION}"),  # won by rule
        (1 - MATE_BOUND, "exact", f"cp -{MAX_EVALUATION}"),
    ],
)
def test_info_line(value: int, bound: str, score: str) -> None:
    """The greatest ply is at least the depth: a line of an earlier depth may have been searched less far."""
    line = Variation(Score(value), ("7g7f", "3c3d"), 5, 7, bound)
    stats = f"score {score} nodes 3000 nps 2000 hashfull 9 time 1500 multipv 2 pv 7g7f 3c3d"
    for seldepth, shown in ((7, 7), (0, 5)):
        found = replace(analysis_of([replace(line, seldepth=seldepth)], 5), nodes=3000, time=1.5, hashfull=9)
        assert info_lines(found, 2) == [f"info depth 5 seldepth {shown} {stats}"]


@pytest.mark.parametrize("length", [1, 2])
def test_a_long_text_is_cut_without_a_space_at_its_end(length: int) -> None:
    written = io.BytesIO()
    Writer(written).info("x" * length + " y" * 1000)
    (line,) = written.getvalue().splitlines()
    assert len(line) < 1100 and line == line.strip()
