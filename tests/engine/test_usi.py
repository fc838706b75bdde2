"""USI: lines read and printed, conversations with either core, answering times, engine processes; options."""

import io
import os
import queue
import subprocess
import sys
import textwrap
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core_ext import engine
from core_ext.engine import MATE, MATE_BOUND, MAX_EVALUATION
from tests.engine.conftest import SMALL_TABLE
from tests.engine.usi_transport import InProcess, Program, Transport
from tests.positions import DATA, described, described_rows
from usi_engine.game.command_line import commands_of
from usi_engine.game.thinking import info_lines
from usi_engine.search.iterative import analysis_of
from usi_engine.search.results import Score, Variation
from usi_engine.usi import info
from usi_engine.usi import protocol as usi
from usi_engine.usi.arguments import real, spin, whole
from usi_engine.usi.info import Lines, parse_info
from usi_engine.usi.options import ENTERING_KING_RULES, Option, Options, default_threads
from usi_engine.usi.output import Writer
from usi_engine.usi.process import EngineError, EngineEvent, EngineGone, EngineProcess, kill, own_engine
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


def test_what_a_writer_cannot_write_or_should_not() -> None:
    """Half a letter, as names of files may have one, is escaped; a long text is cut without a space at its end."""
    written = io.BytesIO()
    writer = Writer(written)
    for text in ("～/\udc80", "x" + " y" * 1000, "xx" + " y" * 1000):
        writer.info(text)
    half, *cut = written.getvalue().decode().splitlines()
    assert half == "info string ～/\\udc80" and all(len(line) < 1100 and line == line.strip() for line in cut)


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
    program.ask("setoption name Threads value 2", SMALL_TABLE, "isready", answer="^readyok$")
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


# ---- engine processes ----

ENDLESS = "9" * 5000


@pytest.mark.parametrize(
    ("line", "wanted"),
    [*described_rows("info_lines.jsonl"), *((f"score {kind} {ENDLESS}", {"Info": {}}) for kind in ("cp", "mate"))],
)
def test_info_lines(line: str, wanted: object) -> None:
    assert described(parse_info(line)) == wanted


def test_values_are_those_of_the_core() -> None:
    names = "MATE", "MATE_BOUND", "DECLARATION", "MAX_EVALUATION", "INFINITE", "MAX_DEPTH"
    assert {name: getattr(info, name) for name in names} == {name: getattr(engine, name) for name in names}


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (["depth 3 score cp 1", "depth 4 score cp 2 lowerbound"], [(2, "lower")]),
        (["depth 3 score cp 1", "depth 3 score cp 2 lowerbound", "depth 2 score cp 3 upperbound"], [(1, "exact")]),
        (["depth 3 score cp 1 upperbound", "depth 3 score cp 2 lowerbound"], [(2, "lower")]),
        (["depth 4 score cp 1 upperbound", "depth 3 score cp 2", "nodes 9"], [(2, "exact")]),
        (["depth 1 multipv 2 score cp 5 pv 7g7f", "depth 2 score cp 4 pv 7g7f"], [(4, "exact")]),
        (["depth 1 score cp 4 pv 7g7f", "depth 1 multipv 2 score cp 5 pv 2g2f"], [(5, "exact"), (4, "exact")]),
    ],
)
def test_lines_of_a_search(lines: list[str], kept: list[tuple[int, str]]) -> None:
    """An exact value stays until there is another, or a bound of a greater depth."""
    found = Lines()
    for line in lines:
        found.add(parse_info(line))
    assert [(line.value, line.bound) for line in found.best_first()] == kept


ECHO = """
import sys
for line in sys.stdin:
    if line.startswith("usi"):
        print("x" * 3_000_000, end="\\n", flush=True)
        print("x" * 70_000, file=sys.stderr, flush=True)
        print("usiok", flush=True)
    if line.startswith("isready"):
        print("info string hello\\nreadyok", flush=True)
"""


def test_an_engine_that_writes_without_end() -> None:
    """Long lines are read in parts; standard error is read too, because a full pipe would stop the engine."""
    errors = queue.SimpleQueue[str]()
    engine = EngineProcess([sys.executable, "-c", ECHO], {}, errors=errors.put)
    engine.prepare()
    engine.quit()
    assert errors.get(timeout=20) == "x" * 70_000


def test_an_error_while_reading_ends_the_engine() -> None:
    """Its end is posted: otherwise the caller would wait for ever."""
    events: queue.SimpleQueue[EngineEvent] = queue.SimpleQueue()

    def fail(text: str) -> None:
        raise OSError("the terminal is gone")

    engine = EngineProcess([sys.executable, "-c", ECHO], {}, events.put, note=fail)
    with pytest.raises(EngineError, match=r"has ended \("):
        engine.prepare()
    assert isinstance(events.get(timeout=20), EngineGone)
    assert engine.last_lines[-1] == "OSError: the terminal is gone"
    engine.quit()


def test_values_that_an_option_does_not_take() -> None:
    engine = EngineProcess(own_engine(), {})
    engine.prepare()
    refused = (
        ("Hash", "1", "has no option 'Hash'"), ("Threads", "0", "must be from 1 to 512, not '0'"),
        ("usi_ownbook", "abc", "USI_OwnBook must be true or false, not 'abc'"),
        ("EnteringKingRule", "x", "must be one of NoEnteringKing, CSARule24, "),
        ("EvalFile", "a\nquit", r"one line, not 'a\\x0aquit'"),
    )  # fmt: skip
    for name, value, reason in refused:
        with pytest.raises(EngineError, match=reason):
            engine.set_option(name, value)
    engine.quit()


@pytest.mark.parametrize("folder", [None, Path("none")])
def test_the_reason_why_a_program_does_not_start(folder: Path | None) -> None:
    """The system's words, with the file or folder that is missing, not Python's."""
    with pytest.raises(EngineError, match=r"^none/here does not start: (?!\[)[^()]+$"):
        EngineProcess(["none/here"], {}, None, folder).start()


def test_this_engine_in_a_folder_with_another_package_of_its_name(tmp_path: Path) -> None:
    """Such as its source folder before anything is built."""
    (tmp_path / "usi_engine").mkdir()
    (tmp_path / "usi_engine" / "__init__.py").write_text("raise SystemExit('not this one')", encoding="utf-8")
    engine = EngineProcess(own_engine(), {}, folder=tmp_path)
    engine.start()
    assert engine.name.startswith("Komadori")
    engine.quit()


@pytest.mark.skipif(os.name == "nt", reason="processes have no groups")
def test_what_a_wrapper_started_ends_with_it() -> None:
    """Also if the wrapper itself has ended."""
    begun, shell = time.monotonic(), ["sh", "-c", "sleep 60 &"]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, text=True, start_new_session=True) as wrapper:
        wrapper.wait()
        kill(wrapper)
        assert wrapper.stdout is not None and not wrapper.stdout.read()
    assert time.monotonic() < begun + 30


# ---- options, and arguments on the command line ----


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 2), (4, 4), (64, 4)])
def test_threads_by_default(monkeypatch: pytest.MonkeyPatch, cores: int, threads: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert default_threads() == threads


@pytest.mark.parametrize(
    "declaration",
    [
        "spin default 1 min -1 max 8", "spin default x", "check default true", "combo default a b var a b var c",
        "string default <empty>", "filename default a min 1", "button",
    ],
)  # fmt: skip
def test_the_declaration_of_another_engine(declaration: str) -> None:
    assert str(Option.parse(declaration)) == declaration
    assert Option.parse("spin\tmin 1\tdefault 9  max 8") == Option("spin", 8, 1, 8)
    assert Option.parse("combo  var A var B default b") == Option("combo", "B", values=("A", "B"))


@pytest.mark.parametrize(
    ("name", "texts", "shown"),
    [
        ("threads", ("4", " 4 ", "+4"), "4"), ("Threads", ("0", "-9"), "1"), ("Threads", ("9" * 400, "513"), "512"),
        ("USI_Ponder", ("true", "1", "on", "TRUE"), "true"), ("USI_Ponder", ("FALSE", "0", "off"), "false"),
        ("MateShortest", ("short", "false"), "short"), ("MateShortest", ("true",), "shortest"),
        *(("enteringkingrule", (rule, rule.upper()), rule) for rule in ENTERING_KING_RULES),
    ],
)  # fmt: skip
def test_values(name: str, texts: tuple[str, ...], shown: str) -> None:
    """Numbers are clamped; case makes no difference."""
    for text in texts:
        options = Options()
        assert options.set(name, text) is None
        assert options.listing(name)[0].endswith(f" = {shown}")


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Threads", ["", "many", "nan", "inf", "1e999", "0x10", "1_0", "1.5", "4.0", "４"]),
        ("USI_Ponder", [""]),
        ("EnteringKingRule", ["CSARule28"]),
    ],
)
def test_a_refused_value_is_quoted_and_changes_nothing(name: str, texts: list[str]) -> None:
    for text in texts:
        options = Options()
        refusal = options.set(name, text)
        assert refusal is not None and f"'{text}'" in refusal and options.listing() == Options().listing()
    assert "'Foo'" in (Options().set("Foo", "1") or "") and Options().listing("Foo") == []


def test_lines_of_eval_options_set_what_the_user_has_not_set() -> None:
    options = Options()
    options.set("Threads", "3")
    options.set("FV_SCALE", "0")  # the default, as GUIs send it
    lines = [
        "option name FV_SCALE type spin default 24 min 1 max 128", "", " # FV_SCALE=30", "; 1", "//2",
        "multipv=2", "USI_Ponder true", "Threads 2",
    ]  # fmt: skip
    told = ["FV_SCALE = 24", "MultiPV = 2", "USI_Ponder = true", "option Threads stays 3, as it was set, not 2"]
    assert options.advise(lines) == told
    assert (options.number("FV_SCALE"), options.number("MultiPV"), options.number("Threads")) == (24, 2, 3)
    options.set("FV_SCALE", "16")
    assert options.advise(["FV_SCALE 20"]) == ["option FV_SCALE stays 16, as it was set, not 20"]
    assert (options.number("FV_SCALE"), options.number("MultiPV"), options.flag("USI_Ponder")) == (16, 1, False)
    options.set("FV_SCALE", "0")  # as the file says
    assert options.advise(["FV_SCALE 20"]) == ["FV_SCALE = 20"]


def test_options_that_a_gui_sends_before_each_game_are_the_same_in_each() -> None:
    """A default after the advice is a wish, unless it only repeats what was sent before."""
    options, lines = Options(), ["SlowMover=50", "MultiPV=2"]
    for _ in range(3):
        options.set("SlowMover", "100")
        assert options.advise(lines) == ["SlowMover = 50", "MultiPV = 2"]
    for _ in range(2):
        options.set("MultiPV", "1")
        assert options.advise(lines) == ["SlowMover = 50", "option MultiPV stays 1, as it was set, not 2"]


@pytest.mark.parametrize(("line", "told"), described_rows("eval_options.jsonl"))
def test_each_line_of_eval_options_is_answered_in_one_sentence(line: str, told: str) -> None:
    options = Options()
    assert options.advise([line, "MultiPV=2"]) == [told, "MultiPV = 2"]
    assert options.text("EvalDir") == ""


SFEN = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"


@pytest.mark.parametrize(
    "arguments",
    [["position", "sfen", *SFEN.split(), "go", "depth", "3"], ["position", "sfen", SFEN, "go", "depth", "3"],
     ["position", f"sfen {SFEN}", "go", "depth 3"], [f"position sfen {SFEN}", "go", "depth", "3"],
     ["position", "sfen", *SFEN.split(), "go depth 3"]],
)  # fmt: skip
def test_commands_in_words_in_quotes_or_both(arguments: list[str]) -> None:
    assert commands_of(arguments) == [f"position sfen {SFEN}", "go depth 3"]


def test_a_command_in_quotes_is_the_whole_argument() -> None:
    path = "setoption name BookDir value my  go"
    assert commands_of([path, "usinewgame", "", "go depth 1"]) == [path, "usinewgame", "go depth 1"]


def test_numbers_within_the_range() -> None:
    assert [whole()(text) for text in ("0", "7", "2147483647")] == [0, 7, 2147483647]
    assert [whole(-5, 5)(text) for text in ("-5", "05")] == [-5, 5]
    assert [real(0, 1)(text) for text in ("0", "1", ".25", "1e-3")] == [0, 1, 0.25, 0.001]
    assert [spin("USI_Hash")(text) for text in ("1", "262144")] == [1, 262144]


@pytest.mark.parametrize(
    ("read", "texts", "wanted"),
    [
        (whole(1, 10), ["", " ", "x", "0", "11", "-1", "5.0", "1_0", "５", "9" * 5000], "whole number from 1 to 10"),
        (real(0, 1), ["", "x", "-0.1", "1.1", "inf", "-inf", "nan", "1e999"], "number from 0 to 1"),
        (spin("Threads"), ["513"], "whole number from 1 to 512"),
    ],
)
def test_bad_numbers(read: Callable[[str], float], texts: list[str], wanted: str) -> None:
    for text in texts:
        with pytest.raises(ArgumentTypeError, match=f"^'{text}' is not a {wanted}$"):
            read(text)
