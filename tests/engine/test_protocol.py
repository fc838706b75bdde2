"""Reader of USI lines."""

from __future__ import annotations

import pytest

from usi_engine.usi import protocol as usi
from usi_engine.usi.options import LARGEST
from usi_engine.usi.protocol import Command, GetOption, Go, GoMate, SetOption, SetPosition, Times, decode, parse

READ: list[tuple[str, Command]] = [
    ("usi", usi.Usi()), ("isready", usi.IsReady()), ("usinewgame", usi.NewGame()), ("stop", usi.Stop()),
    ("quit", usi.Quit()), ("help", usi.Help()), ("  stop  ", usi.Stop()), ("\tgo\tdepth 2\t", Go(depth=2)),
    ("setoption\t name A value b\tc", SetOption("A", "b\tc")), ("getoption\tThreads\t", GetOption("Threads")),
    ("gameover\tlose\tx", usi.GameOver()), ("", usi.Ignored()), ("USI", usi.Ignored()),
    ("bestmove 7g7f", usi.Ignored()), ("gameover", usi.GameOver()),
    ("setoption name A value", SetOption("A", "")), ("setoption name A value <empty>", SetOption("A", "")),
    ("setoption name A value b c  d", SetOption("A", "b c  d")),
    ("setoption name A value value", SetOption("A", "value")), ("getoption", GetOption("")),
    ("setoption name 名前\U0001f426 value 値 value  name x", SetOption("名前\U0001f426", "値 value  name x")),
    ("position startpos", SetPosition("startpos")),
    ("position startpos moves 7g7f 3c3d", SetPosition("startpos", ("7g7f", "3c3d"))),
    ("position sfen a b c 1 moves x 歩+ sfen", SetPosition("a b c 1", ("x", "歩+", "sfen"))),
    ("position a b c 1", SetPosition("a b c 1")),
    ("position", SetPosition("")), ("position sfen", SetPosition("")),
    ("position moves 7g7f", SetPosition("", ("7g7f",))), ("go", Go()), ("go infinite", Go(infinite=True)),
    ("go ponder btime 1 wtime 2 byoyomi 3", Go(Times(1, 2, 3), ponder=True)),
    ("go btime 1 wtime 2 binc 3 winc 4 ponder", Go(Times(1, 2, None, 3, 4), ponder=True)),
    ("go infinite ponder depth 3 nodes 4 movetime 5", Go(Times(), True, True, movetime=5, depth=3, nodes=4)),
    ("go movetime 0.9", Go(movetime=0)),
    ("go btime -5 wtime 1e3", Go(Times(0, 1000))),
    ("go depth x byoyomi 5", Go(Times(byoyomi=5), faults=("go depth needs a number of 1 or more, not 'x'",))),
    ("go depth 0", Go(depth=1, faults=("go depth needs a number of 1 or more, not '0'",))),
    ("go nodes 0", Go(depth=1, faults=("go nodes needs a number of 1 or more, not '0'",))),
    ("go byoyomi 1000ms", Go(depth=1, faults=("go byoyomi needs milliseconds, not '1000ms'",))),
    ("go infinite depth", Go(infinite=True, faults=("go depth needs a number of 1 or more, not ''",))),
    ("go byoyomi 1e9 movetime 1e400", Go(Times(byoyomi=usi.LONGEST_TIME), movetime=usi.LONGEST_TIME)),
    ("go foo depth 2 bar", Go(depth=2)),
    ("go depth 2 searchmoves 7g7f P*5e", Go(depth=2, searchmoves=("7g7f", "P*5e"))),
    ("go searchmoves 7g7f 2g2f byoyomi 100 depth 3", Go(Times(byoyomi=100), depth=3, searchmoves=("7g7f", "2g2f"))),
    ("go mate infinite", GoMate()), ("go mate", GoMate()), ("go mate 5000", GoMate(milliseconds=5000)),
    ("go mate nodes 77", GoMate(nodes=77)), ("go mate 1e99", GoMate(milliseconds=usi.LONGEST_TIME)),
    ("go mate 10s", GoMate(milliseconds=0, faults=("go mate needs milliseconds or 'infinite', not '10s'",))),
    ("go mate nodes 0", GoMate(milliseconds=0, faults=("go mate nodes needs a number of 1 or more, not '0'",))),
    ("ponderhit btime abc", usi.PonderHit(faults=("go btime needs milliseconds, not 'abc'",))),
    ("ponderhit", usi.PonderHit()), ("ponderhit btime 1 wtime 2 byoyomi 3", usi.PonderHit(Times(1, 2, 3))),
    ("d", usi.Question("d")), ("eval", usi.Question("eval")), ("perft 4", usi.Perft(4)), ("bench", usi.Bench()),
    ("bench 6 32", usi.Bench(6, 32)),
]  # fmt: skip


@pytest.mark.parametrize(("line", "command"), READ, ids=[line for line, _ in READ])
def test_read(line: str, command: Command) -> None:
    assert parse(line) == command


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
