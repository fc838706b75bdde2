"""Reader of USI lines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.positions import described, described_rows
from usi_engine.usi import protocol as usi
from usi_engine.usi.options import LARGEST
from usi_engine.usi.protocol import decode, parse


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


def test_decode() -> None:
    assert decode(b"\xef\xbb\xbfusi\r\n") == "usi"
    assert decode("将棋".encode()) == decode("将棋".encode("cp932")) == "将棋"


def test_open_ended() -> None:
    ended = ("go depth 1", "go nodes 1", "go movetime 1", "go byoyomi 0", "go btime 0 wtime 0")
    assert [parse(line).open_ended() for line in ended] == [False] * 5  # type: ignore[union-attr]
    unended = ("go", "go infinite", "go ponder", "go searchmoves 7g7f", "go infinite depth 3")
    assert [parse(line).open_ended() for line in unended] == [True] * 5  # type: ignore[union-attr]
