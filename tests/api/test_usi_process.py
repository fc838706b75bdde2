"""Other USI engines as processes: results, and processes that die, hang or answer nonsense."""

import os
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import usi_engine
from core_ext.board import BLACK, WHITE, Board
from tests.positions import MATED
from tests.scripted_engine import scripted
from usi_engine import Analysis, Engine, EngineDied, EngineError, EngineNonsense, Limit, Timeouts, UsiEngine
from usi_engine.api import usi_process
from usi_engine.usi.options import Option
from usi_engine.usi.process import own_engine

INFO = "info depth {} seldepth 9 nodes {} multipv {} score {} pv {}"
QUICK = Timeouts(start=20, ready=20, stop=0.2, silence=0.3)
Opened = Callable[..., UsiEngine]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    def opened(*answers: str, **arguments: Any) -> UsiEngine:
        return Engine.popen(scripted(tmp_path / "log", *answers), **arguments)

    return opened


def received(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text(encoding="utf-8").splitlines()


def test_lines_in_order_of_value(opened: Opened, tmp_path: Path) -> None:
    """Other text and moves after an illegal one are left out; a newer line replaces that of its move."""
    lines = [
        INFO.format(1, 5, 1, "cp 10", "7g7f 3c3d"), INFO.format(1, 9, 1, "cp 12 lowerbound", "1g1f"),
        "info string score cp 7 pv 1g1f", "nonsense", INFO.format(2, 30, 1, "cp -40", "2g2f 8c8d 9a9z"),
        INFO.format(2, 40, 2, "mate 5", "7g7f"), INFO.format(2, 50, 3, "cp 99999", "6i7h (12%)"),
    ]  # fmt: skip
    seen = list[Analysis]()
    with opened("\n".join(lines) + " | 7g7f", options={"usi_hash": 3, "usi_ponder": True}) as engine:
        found = engine.analyse(Board(), nodes=100, multipv=3, watch=seen.append)
        assert engine.name == "Fake" and engine.options["PvInterval"] == Option("spin", 300, 0, 1000)
    assert [(line.move, line.pv, str(line.score)) for line in found.lines] == [
        ("7g7f", ("7g7f",), "mate 5"), ("6i7h", ("6i7h",), "+20000"), ("2g2f", ("2g2f", "8c8d"), "-40"),
    ]  # fmt: skip
    assert (found.move, found.depth, found.nodes, len(seen)) == ("7g7f", 2, 50, 4)
    sent = received(tmp_path)
    options = {line.removeprefix("setoption name ") for line in sent if line.startswith("setoption")}
    assert {"USI_Hash value 3", "USI_Ponder value true", "PvInterval value 0"} <= options
    assert sent[-4:-1] == ["setoption name MultiPV value 3", "position startpos", "go nodes 100"]


def test_play_with_clocks(opened: Opened, tmp_path: Path) -> None:
    board = Board.from_moves(["7g7f", "pass", "2g2f"])
    with opened(INFO.format(1, 5, 1, "cp 10", "3c3d") + " | 3c3d ponder 2f2e", "resign", "win") as engine:
        result = engine.play(board, Limit(black_clock=60, white_clock=59.5, white_inc=2, byoyomi=1))
        assert (result.move, result.ponder, str(result.score), result.end) == ("3c3d", "2f2e", "+10", "")
        assert result.score is not None and result.score.turn == WHITE and result.score.pov(BLACK).cp == -10
        ends = [engine.play(board, depth=3) for _ in range(2)]
        assert [(result.move, result.end, result.score) for result in ends] == [
            (None, "resign", None), (None, "win", None),
        ]  # fmt: skip
        assert engine.play(Board(MATED), nodes=3).end == "resign"
    start = Board.from_moves(["7g7f", "pass"]).sfen()
    sent = [f"position sfen {start} moves 2g2f", "go btime 60000 wtime 59500 byoyomi 1000 winc 2000"]
    assert [line for line in received(tmp_path) if line.startswith(("go", "pos"))][:2] == sent


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (INFO.format(9, 9, 1, "cp 40 lowerbound", "7g7f 3c3d") + " | 7g7f", ("+40", "lower")),
        (INFO.format(9, 9, 1, "cp -900 upperbound", "7g7f") + " | resign", ("-900", "upper")),
        (INFO.format(9, 9, 1, "cp 10", "7g7f") + "\ninfo score cp 50 lowerbound | 7g7f", ("+10", "exact")),
        ("\tinfo  depth\t9 score  cp\t7 pv  7g7f\t3c3d | 7g7f", ("+7", "exact")),
    ],
)
def test_a_bound_is_a_score(opened: Opened, answer: str, score: tuple[str, str]) -> None:
    """YaneuraOu's last line is often a bound."""
    with opened(answer) as engine:
        best = engine.analyse(Board(), nodes=20_000).best
    assert (str(best.score), best.bound) == score and best.move == "7g7f"


def test_what_the_engine_says_is_a_warning() -> None:
    none = {"EvalFile": "/no/such/nn.bin", "BookFile": "/no/such.db", "Threads": "1"}
    with pytest.warns(RuntimeWarning, match="the engine: ") as told, Engine.popen(own_engine(), options=none) as engine:
        assert [any(name in str(each.message) for each in told) for name in ("nn.bin", "such.db")] == [True, True]
        with pytest.warns(RuntimeWarning, match="other.bin"):
            engine.configure({"evalfile": "other.bin"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Engine.popen(own_engine(), options={"EvalFile": "material"}).close()


def test_a_stream_ends_with_its_block(opened: Opened) -> None:
    """`think` answers `stop` only, by resigning."""
    with opened("think", INFO.format(1, 5, 1, "cp 10", "7g7f") + " | 7g7f") as engine:
        with pytest.raises(EngineNonsense, match="resigns without"), engine.analysis(Board()):
            pass
        with engine.analysis(Board(), depth=3) as stream:
            assert [part.move for part in stream] == ["7g7f"]


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ("die", EngineDied, r"Fake has ended \(exit status 0\)"),
        ("hang", usi_engine.EngineSilent, "Fake does not answer stop|Fake says nothing for 0.3 s"),
        ("7g7e", EngineNonsense, "Fake answers '7g7e', which is no legal move"),
        ("7g7f", EngineNonsense, "Fake gives no evaluation"),
        ("resign", EngineNonsense, "Fake resigns without an evaluation"),
        ("", EngineNonsense, "Fake answers '', which is no legal move"),
    ],
)
def test_an_engine_that_fails(opened: Opened, answer: str, kind: type[EngineError], text: str) -> None:
    with opened(answer, timeouts=QUICK if answer == "hang" else Timeouts()) as engine:
        process = engine._engine._process
        with pytest.raises(kind, match=text) as failure:
            engine.analyse(Board(), depth=3)
        assert "readyok" in failure.value.last_lines and "readyok" in str(failure.value)
        if answer in ("die", "hang"):
            with pytest.raises(EngineError):
                engine.play(Board(), Limit(depth=1))
    assert process is not None and process.poll() is not None
    with pytest.raises(RuntimeError, match="closed"):
        engine.analyse(Board(), depth=1)


def test_a_process_started_again(opened: Opened, tmp_path: Path) -> None:
    """Events of its earlier searches are dropped, and its options are set again."""
    with opened("die", INFO.format(1, 5, 1, "cp 10", "7g7f") + " | 7g7f") as engine:
        engine.configure({"USI_Hash": 7, "pvinterval": 5})
        with pytest.raises(EngineDied):
            engine.analyse(Board(), depth=3)
        engine.new_game()
        found = engine.analyse(Board(), depth=3, multipv=2)
        assert [line.move for line in found.lines] == ["7g7f"] and found.nodes == 5
    sent = received(tmp_path)
    assert sent.count("setoption name USI_Hash value 7") == sent.count("setoption name PvInterval value 5") == 2
    assert sent.count("setoption name PvInterval value 0") == 1  # unless the caller has set it


def test_time_is_kept_for_the_engine(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that ignores its time is stopped, and killed if it ignores that too."""
    monkeypatch.setattr(usi_process, "GRACE", 0.1)
    with opened("think", "think", "hang", timeouts=QUICK) as engine:
        assert engine.play(Board(), time=0.01).end == "resign"
        assert engine.play(Board(), Limit(black_clock=0.01, white_clock=1000)).end == "resign"
        with pytest.raises(usi_engine.EngineSilent, match="does not answer stop"):
            engine.play(Board.from_moves(["7g7f"]), Limit(black_clock=1000, white_clock=0.01))


def test_an_engine_that_another_thread_closes(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search that was about to begin says so."""
    engine = opened()
    monkeypatch.setattr(engine._engine, "set_option", lambda *option: engine.close())
    with pytest.raises(RuntimeError, match="the engine is closed"):
        engine.analyse(Board(), depth=1)


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("print('no such library')", EngineDied, "has ended \\(exit status 0\\)\n    no such library"),
        ("import sys; sys.exit('no such library')", EngineDied, "    no such library"),
        ("import time; print('hello', flush=True); time.sleep(1000)", usi_engine.EngineSilent, "does not answer usiok"),
    ],
)
def test_a_program_that_is_no_engine(code: str, kind: type[EngineError], text: str) -> None:
    timeouts = Timeouts(start=20 if kind is EngineDied else 0.5, stop=0.1)
    with pytest.raises(kind, match=text):
        Engine.popen([sys.executable, "-c", code], timeouts=timeouts)
    with pytest.raises(EngineError, match="none/here does not start"):
        Engine.popen("none/here")
    for nothing in ("", list[str]()):
        with pytest.raises(EngineError, match="no program: "):
            Engine.popen(nothing)


def test_refused_arguments(opened: Opened) -> None:
    with opened() as engine:
        for call in (
            lambda: engine.analyse(Board()), lambda: engine.analyse(Board(), Limit(depth=1), depth=1),
            lambda: engine.analyse(Board(), depth=1, multipv=0), lambda: engine.analyse(Board(), depth=1, moves=[]),
            lambda: engine.play(Board(), Limit(black_clock=-1)),
        ):  # fmt: skip
            with pytest.raises(ValueError):
                call()
        for kind in (EngineError, ValueError, usi_engine.UnknownOption):
            with pytest.raises(kind, match="Fake has no option 'Hash'"):
                engine.configure({"Hash": 1})
        with pytest.raises(usi_engine.UnknownOption, match="Fake: Style must be one of Calm, Wild, not 'Bold'"):
            engine.configure({"style": "Bold"})


@pytest.mark.slow
def test_fairy_stockfish() -> None:
    program = shutil.which("fairy-stockfish", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/games")
    if program is None:
        pytest.skip("there is no fairy-stockfish: apt install fairy-stockfish")
    board = Board.from_moves(["7g7f", "3c3d", "8h2b+", "3a2b"])
    with Engine.popen(program, options={"Hash": 16}) as engine:
        found = engine.analyse(board, nodes=20_000, multipv=3)
        assert engine.name.startswith("Fairy-Stockfish") and len(found.lines) == 3 and found.nodes >= 20_000
        assert sorted(found.lines, key=lambda line: line.score, reverse=True) == list(found.lines)
        assert engine.analyse(board, depth=3, moves=["9g9f"]).move == "9g9f"
        engine.configure({"Clear Hash": None, "Threads": 2})
        while board.ply < 13:
            board.push(engine.play(board, Limit(black_clock=1, white_clock=1, black_inc=0.1, white_inc=0.1)).move or "")
        with engine.analysis(board) as stream:
            depths = [next(stream).depth for _ in range(3)]
        assert depths == sorted(depths) and stream.result().move
        assert engine.analyse(Board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1"), depth=5).score.mate == 1
        process = engine._engine._process
        assert process is not None
        process.kill()
        with pytest.raises(EngineDied, match="Fairy-Stockfish"):
            engine.play(board, Limit(depth=1))
    assert process.poll() is not None
