"""Second solutions of mate problems: which other checks mate too, the class of each, and `usi_engine mate --all`."""

import json
import re
from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from tests.conftest import MateProblem
from tests.mate.test_command import NO_MATE
from tests.mate.test_dfpn import BARE_KING, loses
from tests.positions import data_rows
from usi_engine.api.second_solutions import Kind, SecondSolutionSearch
from usi_engine.mate_tool.command import main

TWO = "5B3/7Pk/2R6/9/9/9/9/9/9 b rb4g4s4n4l17p 1", "7c2c+ 1b1a 2b2a+"
DETOUR = "7S1/6G2/5B1k1/8N/9/9/9/9/9 b G2rb2g3s3n4l18p 1", "1d2b+ 2c1c 2a1b+ 1c1d G*2e"
UNIQUE = "9/9/8k/9/9/7R1/9/9/9 b Gr2b3g4s4n4l18p 1", "G*2c 1c1d 2c2d 1d1e 2d2e"


def examine(solver: MateSolver, sfen: str, solution: str) -> dict[tuple[int, str], Kind]:
    """Return the class of each other check that mates, by ply and move."""
    search = SecondSolutionSearch(Board(sfen), solution.split())
    assert sum(1 for _decided in search.run(solver, StopToken())) == search.total
    return {(other.ply, other.moves[0]): other.kind for other in search.results()}


@pytest.mark.parametrize(("sfen", "solution", "others"), data_rows("second_solutions.tsv"))
def test_classes(solver: MateSolver, sfen: str, solution: str, others: str) -> None:
    """Such as moves that do not promote, with another continuation or the same; detours; returns without a piece."""
    found = [[ply, move, kind.name] for (ply, move), kind in examine(solver, sfen, solution).items()]
    assert found == json.loads(others)


@pytest.mark.parametrize("line", ["", "7c2c+ 1b1a", "7c2c+ 1b1a 2b2a", "4a2c 1a1b 7c7a+", "7c2c+ 1b1c 2b2a+"])
def test_a_solution_that_is_none(solver: MateSolver, line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"no mate: '{line}'")):
        examine(solver, TWO[0], line)


def test_checks_by_brute_force(solver: MateSolver, mate_problems: list[MateProblem]) -> None:
    """Every check along short solutions mates within three plies if and only if the solver says so."""
    mates = 0
    for length, sfen, _solution in mate_problems[::60]:
        board = Board(sfen)
        if length > 3:
            continue
        for check in board.checking_moves(include_all=True):
            status, moves = solver.solve_check(board, check, 200_000)
            quick = loses(board, check, 2)
            assert status == "mate" or not quick, (sfen, check)
            assert status != "mate" or (len(moves) > 3) >= (not quick) - 2 * quick, (sfen, check)
            mates += status == "mate"
    assert mates > 20


def test_avoided_positions(solver: MateSolver) -> None:
    """They count as no mate in this call only."""
    board = Board.from_moves(["1d2b+", "2c1c"], DETOUR[0])
    status, line = solver.solve_check(board, "2b1b")
    assert (status, line[0], len(line)) == ("mate", "2b1b", 7)
    assert solver.solve_check(board, "2b1b", avoided=[board]) == ("nomate", [])
    assert solver.solve_check(board, "2b1b", avoided=[Board(TWO[0])]) == ("mate", line)
    assert solver.solve_check(board, "2b1b") == ("mate", line)
    assert solver.solve(board)[0] == "mate"


def test_avoided_positions_after_interpositions() -> None:
    """Also if the table is full of other positions."""
    board = Board("9/9/9/2B5k/8N/7R1/9/9/9 b Srb4g3s3n4l18p 1")
    line = ["2f2c+", "1d1e", "S*2f", "1e1f", "7d3h", "P*2g", "2c2e"]
    avoided = Board.from_moves(line[:6], board.sfen())
    solver = MateSolver(1, StopToken())
    solver.solve(Board(BARE_KING), 34000)
    status, found = solver.solve_check(board, line[0], 50000, [avoided])
    assert (status, found[:6] == line[:6]) == ("mate", False)


def test_refused_checks(solver: MateSolver) -> None:
    for move in ("7c7d", "7c7a", "x"):
        with pytest.raises(ValueError, match=move):
            solver.solve_check(Board(TWO[0]), move)
    for wrong in (None, "x"):
        with pytest.raises(TypeError):
            solver.solve_check(Board(TWO[0]), "4a2c+", avoided=[wrong])  # type: ignore[list-item]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second solution, exceptions by custom, a solution that is no mate, no mate at all; and too few nodes."""
    problems = [TWO, (TWO[0], "4a2c+ 1b1a 7c7a+"), (TWO[0], "4a2c+"), (NO_MATE, ""), UNIQUE, DETOUR]
    file = tmp_path / "m.tsv"
    file.write_text("".join(f"3\t{sfen}\t{solution}\n" for sfen, solution in problems), encoding="utf-8")
    assert main([str(file), "--all", "--hash", "16", "--japanese"]) == 1
    shown = capsys.readouterr().out.splitlines()
    second = shown.index("    ply 1: second solution, mate in 3: 4a2c+ 1b1a 7c7a+")
    assert shown[second + 1] == "        ▲２三角成 △１一玉 ▲７一飛成"
    assert {"    unique", "    unique; 1 exceptions by custom"} <= set(shown)
    assert "    the file's solution does not mate: '4a2c+'" in shown
    assert main([str(file), "--all", "--hash", "16", "--nodes", "200"]) == 1
    assert "    ply 1: undecided: G*1b" in capsys.readouterr().out.splitlines()
