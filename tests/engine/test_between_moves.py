"""Work between the searches of a game must not cost later moves their time."""

import time
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from tests.engine.conftest import SMALL_TABLE, ScriptedEngine
from tests.engine.fake_core import Script, ScriptedSolver
from tests.engine.usi_transport import InProcess
from tests.eval.nnue.networks import shifted
from usi_engine.core import load_core
from usi_engine.evaluation.names import INTERNAL, PACKAGED
from usi_engine.evaluation.network_file import read_network, write_network
from usi_engine.search import search

MATE_IN_THREE = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 3G 1"


def seconds_to_answer(engine: InProcess, *lines: str) -> float:
    begun = time.monotonic()
    engine.ask(*lines)
    return time.monotonic() - begun


def total(engine: InProcess) -> int:
    engine.send("eval")
    return int(engine.expect("^total ").split()[1])


def test_the_clearing_for_a_new_game_is_on_the_clock(scripted: ScriptedEngine) -> None:
    """A GUI does not wait after usinewgame: the clock of its go runs while the table is cleared."""
    engine = scripted(Script(clear_seconds=0.3, solve_seconds=0))
    seconds_to_answer(engine, "isready", "go depth 1")
    assert 0.3 < seconds_to_answer(engine, "usinewgame", "position startpos", "go byoyomi 500") < 0.7


def test_late_mate_searches_cost_the_game_no_time(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The margin depends on the lateness of moves alone."""
    solve = ScriptedSolver.solve

    def late(solver: ScriptedSolver, board: Board, node_limit: int = 0, aim: str = "short") -> Any:
        found = solve(solver, board, node_limit, aim)
        time.sleep(0.2 if aim == "first" else 0)
        return found

    monkeypatch.setattr(search, "MATE_NODES_PER_MS", 0)
    engine = scripted(Script(solve_seconds=0.1))
    engine.send("isready", MATE_IN_THREE)
    monkeypatch.setattr(ScriptedSolver, "solve", late)
    for _ in range(3):
        engine.send("go mate 50")
        engine.expect("^checkmate timeout")
    monkeypatch.setattr(ScriptedSolver, "solve", solve)
    for _ in range(4):  # the margin that is assumed before the first move fades
        seconds_to_answer(engine, "go byoyomi 100")
    assert seconds_to_answer(engine, "position startpos", "go byoyomi 500") > 0.4


def test_weights_that_could_not_be_read_are_tried_again(tmp_path: Path) -> None:
    """The next isready tries again, a go does not."""
    engine, path = InProcess(load_core), tmp_path / "late.bin"
    engine.send(SMALL_TABLE, f"setoption name EvalFile value {path}", "isready")
    engine.expect("late.bin.*; playing with EvalFile <internal>$")
    engine.expect("^readyok$")
    engine.ask("go depth 1")
    assert sum("late.bin" in line for line in engine.seen) == 1
    before = total(engine)
    write_network(path, shifted(read_network(PACKAGED[INTERNAL]), 500))
    engine.send("isready")
    assert abs(total(engine) - before - 500) <= 1
    engine.close()


def test_a_mate_at_the_root_is_within_the_rules(real: InProcess) -> None:
    """It must end before MaxMovesToDraw, and must not contain a fourth repetition by check, which would lose."""
    place = "position sfen 9/2k6/9/3LG4/7S1/1R7/9/9/8K b G 1"
    real.ask(SMALL_TABLE, "isready", answer="^readyok$")
    for last_ply, mated in ((3, True), (2, False)):
        real.ask(f"setoption name MaxMovesToDraw value {last_ply}", place, "go byoyomi 500")
        assert (" score mate 3 " in real.seen[-2]) == mated
    repeated = " ".join(["5d6c 7b6a 6c5c 6a7b", *["5c6c 7b6a 6c5c 6a7b"] * 2])
    real.send("setoption name MaxMovesToDraw value 0", f"{place} moves {repeated}", "go byoyomi 500")
    assert real.expect("^bestmove").split()[1] != "5c6c"
