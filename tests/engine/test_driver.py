"""The engine driver: info lines, and processes that do not behave as engines."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from pathlib import Path

import pytest

from usi_engine import language
from usi_engine.csa.command import own_engine
from usi_engine.usi.driver import BestMove, Engine, EngineError, EngineEvent, EngineGone, Thought, kill, thought_of


@pytest.mark.parametrize(
    ("line", "thought"),
    [
        ("info depth 3 score cp -30 nodes 9 multipv 1 pv 7g7f 3c3d", Thought(-30, ("7g7f", "3c3d"))),
        ("info depth 3 score cp 12", Thought(12)),
        ("info score mate 5 pv 7g7f", Thought(29_995, ("7g7f",))),
        ("info score mate -4 pv 7g7f", Thought(-29_996, ("7g7f",))),
        ("info score mate + pv 7g7f", Thought(20_001, ("7g7f",))),
        ("info score mate - pv 7g7f", Thought(-20_001, ("7g7f",))),
        ("info score cp 1 lowerbound pv 7g7f", None),
        ("info score cp 1 multipv 2 pv 7g7f", None),
        ("info score cp 1 multipv 12 pv 7g7f", None),
        ("info string score cp 1", None),
        ("info score cp " + "9" * 5000, None),
        ("info score mate " + "9" * 5000, None),
        ("info depth 3 nodes 9 pv 7g7f", None),
    ],
)
def test_thoughts(line: str, thought: Thought | None) -> None:
    assert thought_of(line) == thought


ECHO = """
import sys
for line in sys.stdin:
    if line.startswith("usi"):
        print("x" * 3_000_000, end="\\n", flush=True)
        print("x" * 70_000, file=sys.stderr, flush=True)
        print("usiok", flush=True)
    if line.startswith("isready"):
        print("readyok\\ninfo string hello", flush=True)
"""


def test_an_engine_that_writes_without_end() -> None:
    """Long lines are read in parts; standard error is read too, because a full pipe would stop the engine."""
    errors = queue.SimpleQueue[str]()
    engine = Engine([sys.executable, "-c", ECHO], {}, print, errors=errors.put)
    engine.prepare()
    engine.quit()
    assert errors.get(timeout=20) == "x" * 70_000


def test_an_error_while_reading_ends_the_engine() -> None:
    """Its end is posted: otherwise the caller would wait for ever."""
    events: queue.SimpleQueue[EngineEvent] = queue.SimpleQueue()

    def fail(text: str) -> None:
        raise OSError("the terminal is gone")

    engine = Engine([sys.executable, "-c", ECHO], {}, events.put, info=fail)
    engine.prepare()
    assert events.get(timeout=20) == EngineGone(1)
    assert engine.last_lines[-1] == "OSError: the terminal is gone"
    engine.quit()


def test_what_an_engine_says_before_it_is_ready() -> None:
    """The user sees refused options and missing files."""
    said: list[str] = []
    options = {"EvalFile": "none/nn.bin", "bookfile": "none.db"}
    engine = Engine(own_engine(), options, lambda event: None, note=said.append)
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
        Engine(["none/here"], {}, lambda event: None, folder).start()


def test_faults_and_messages_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_translate", "{} (translated)".format)
    said = list[str]()
    shell = [sys.executable, "-c", "print('usiok\\ninfo string hello', flush=True); input(); input()"]
    engine = Engine(shell, {}, lambda event: None, note=said.append)
    for fail in (
        Engine(["none/here"], {}, lambda event: None).start,
        engine.prepare,
        lambda: engine.set_option("Hash", "1"),
    ):
        with pytest.raises(EngineError, match=r" \(translated\)$"):
            fail()
    engine.quit()
    assert said == ["the engine: hello (translated)"]


def test_this_engine_in_a_folder_with_another_package_of_its_name(tmp_path: Path) -> None:
    """Such as its source folder before anything is built."""
    (tmp_path / "usi_engine").mkdir()
    (tmp_path / "usi_engine" / "__init__.py").write_text("raise SystemExit('not this one')", encoding="utf-8")
    engine = Engine(own_engine(), {}, lambda event: None, folder=tmp_path)
    engine.start()
    assert engine.name.startswith("Komadori")
    engine.quit()


def test_this_engine() -> None:
    """Search, ponder hit, stop: one answer each, with its number and thought."""
    events: queue.Queue[EngineEvent] = queue.Queue()
    engine = Engine(own_engine(), {"EvalFile": "material", "USI_Hash": "1"}, events.put)
    engine.prepare(max_moves=256)
    engine.new_game()

    def answer(search: int) -> BestMove:
        event = events.get(timeout=20)
        assert isinstance(event, BestMove) and event.search == search
        return event

    first = answer(engine.go("position startpos", "btime 0 wtime 0 byoyomi 100"))
    assert first.thought.pv[0] == first.move and first.thought.value is not None
    second = engine.go("position startpos moves 7g7f 3c3d", "btime 0 wtime 0 byoyomi 100", ponder=True)
    assert engine.busy
    engine.ponderhit()
    answer(second)
    third = engine.go("position startpos", "btime 0 wtime 0 byoyomi 100000", ponder=True)
    engine.game_over("win")
    assert not engine.busy
    answer(third)
    engine.quit()
    assert events.empty()


@pytest.mark.skipif(os.name == "nt", reason="processes have no groups")
def test_what_a_wrapper_started_ends_with_it() -> None:
    """Also if the wrapper itself has ended."""
    begun, shell = time.monotonic(), ["sh", "-c", "sleep 60 &"]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, text=True, start_new_session=True) as wrapper:
        wrapper.wait()
        kill(wrapper)
        assert wrapper.stdout is not None and not wrapper.stdout.read()
    assert time.monotonic() < begun + 30
