"""What happens between the searches of a game, or beside it, must not cost later moves their time."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from tests.engine.conftest import SMALL_TABLE, ScriptedEngine
from tests.engine.fake_core import Script, ScriptedSolver
from tests.engine.transcripts import DECLARABLE
from tests.engine.usi_transport import InProcess, Program
from usi_engine import thinking
from usi_engine.core import load_core
from usi_engine.evaluation.load import packaged_network
from usi_engine.evaluation.network_file import read_network, write_network
from usi_engine.game.mating import SMALLEST_TABLE, table_megabytes
from usi_engine.learn.nnue.train import shifted
from usi_engine.usi.protocol import GoMate

MATE_IN_THREE = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 3G 1"


def seconds_to_answer(engine: InProcess, *lines: str) -> float:
    """From these lines to their bestmove."""
    begun = time.monotonic()
    engine.send(*lines)
    engine.expect("^bestmove")
    return time.monotonic() - begun


def total(engine: InProcess) -> int:
    """What `eval` says the position is worth."""
    engine.send("eval")
    return int(engine.expect("^total ").split()[1])


def test_the_clearing_for_a_new_game_is_on_the_clock(scripted: ScriptedEngine) -> None:
    """A GUI does not wait after usinewgame: its go has begun while the table is cleared. With its clock begun after
    that it would answer 0.9 s from here.
    """
    engine = scripted(Script(clear_seconds=0.4, solve_seconds=0))
    engine.send("isready", "go depth 1")
    engine.expect("^bestmove")
    assert 0.4 < seconds_to_answer(engine, "usinewgame", "position startpos", "go byoyomi 600") < 0.8


def test_late_mate_searches_cost_the_game_no_time(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The margin of a move is by the lateness of moves alone."""
    solve = ScriptedSolver.solve

    def late(solver: ScriptedSolver, board: Board, node_limit: int = 0, aim: str = "shorter") -> Any:
        found = solve(solver, board, node_limit, aim)
        time.sleep(0.2 if aim == "first" else 0)
        return found

    monkeypatch.setattr(thinking, "MATE_NODES_PER_MS", 0)
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


def test_another_table_waits_for_isready(scripted: ScriptedEngine) -> None:
    """It is allocated neither within a move nor within a mate search."""
    script = Script(solve_seconds=0)
    engine = scripted(script)
    engine.send("isready")
    engine.expect("^readyok$")
    engine.send("setoption name USI_Hash value 8", "go depth 1", MATE_IN_THREE, "go mate nodes 100")
    engine.expect("^checkmate")
    assert script.made["tables"] == 1
    engine.send("isready")
    engine.expect("^readyok$")
    assert script.made["tables"] == 2


@pytest.mark.parametrize("command", ["eval", "go depth 1"])
def test_another_table_waits_beside_another_evaluation(scripted: ScriptedEngine, command: str) -> None:
    """What loads the evaluation keeps the size of the table, and the size that was set for the next isready."""
    engine = scripted(Script())
    engine.send("isready", "setoption name USI_Hash value 8", "setoption name EvalFile value material", command)
    engine.expect("^(total|bestmove)")
    engine.send("isready", "getoption USI_Hash")
    engine.expect("^USI_Hash = 8$")


def test_weights_that_could_not_be_read_are_tried_again(tmp_path: Path) -> None:
    """At the next isready, and not at each go."""
    engine, path = InProcess(load_core), tmp_path / "late.bin"
    engine.send(SMALL_TABLE, f"setoption name EvalFile value {path}", "isready")
    engine.expect("late.bin.*; playing with EvalFile <internal>$")
    engine.expect("^readyok$")
    engine.send("go depth 1")
    engine.expect("^bestmove")
    assert sum("late.bin" in line for line in engine.seen) == 1
    before = total(engine)
    write_network(path, shifted(read_network(packaged_network()), 500))
    engine.send("isready")
    assert abs(total(engine) - before - 500) <= 1
    engine.close()


def test_searchmoves_come_before_a_declaration(program: Program) -> None:
    """Who names the moves to search asks for one of them."""
    program.send(f"position {DECLARABLE}", "go depth 1 searchmoves 8a9a")
    program.expect("^bestmove 8a9a$")


def test_a_mate_at_the_root_is_within_the_rules(program: Program) -> None:
    """It ends before MaxMovesToDraw, and a fourth repetition by check, which would lose, is no part of it."""
    place = "position sfen 9/2k6/9/3LG4/7S1/1R7/9/9/8K b G 1"
    program.send(SMALL_TABLE, "isready")
    program.expect("^readyok$")
    for last_ply, mated in ((3, True), (2, False)):
        program.send(f"setoption name MaxMovesToDraw value {last_ply}", place, "go byoyomi 500")
        program.expect("^bestmove")
        assert (" score mate 3 " in program.seen[-2]) == mated
    repeated = " ".join(["5d6c 7b6a 6c5c 6a7b", *["5c6c 7b6a 6c5c 6a7b"] * 2])
    program.send("setoption name MaxMovesToDraw value 0", f"{place} moves {repeated}", "go byoyomi 500")
    assert program.expect("^bestmove").split()[1] != "5c6c"


def test_no_mate_at_the_root_under_the_try_rule(program: Program) -> None:
    """The king that is mated in five would step onto its square, 5i, in between, and win."""
    program.send(SMALL_TABLE, "setoption name EnteringKingRule value TryRule", "isready")
    program.expect("^readyok$")
    program.send("position sfen K8/9/9/5+B3/9/9/1+R5R1/4kL3/9 b 2G 1", "go byoyomi 500")
    assert program.expect("^bestmove").split()[1] != "8g7h"


def test_an_analysis_says_at_once_that_the_game_can_be_declared_won(program: Program) -> None:
    """And shows a value; its bestmove comes after the stop alone."""
    program.send(f"position {DECLARABLE}", "go infinite")
    program.expect(r"^info depth 0 .*score cp \d{5} ")
    program.expect("^info string the game is won by declaration under CSARule27$")
    program.send("stop")
    program.expect("^bestmove win$")


@pytest.mark.parametrize(
    ("go", "megabytes"),
    [
        (GoMate(), math.inf),
        (GoMate(milliseconds=100), SMALLEST_TABLE),
        (GoMate(milliseconds=2000), 256),
        (GoMate(nodes=819200), 100),
    ],
)
def test_size_of_a_mate_table(go: GoMate, megabytes: float) -> None:
    """No larger than the search can fill."""
    assert table_megabytes(go) == megabytes
