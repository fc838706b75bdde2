"""Engine processes: info lines, answers as events, and processes that do not behave as engines."""

import os
import queue
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core_ext import engine
from tests.positions import described, described_rows
from usi_engine.usi import info
from usi_engine.usi.info import Lines, parse_info
from usi_engine.usi.process import EngineError, EngineEvent, EngineGone, EngineProcess, kill, own_engine

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


def test_what_an_engine_says_before_it_is_ready() -> None:
    """The user sees refused options and missing files."""
    said: list[str] = []
    options = {"EvalFile": "none/nn.bin", "bookfile": "none.db"}
    engine = EngineProcess(own_engine(), options, note=said.append)
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
    assert [name in "\n".join(said) for name in options.values()] == [True, True]


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
