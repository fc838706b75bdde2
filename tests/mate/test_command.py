"""Mate on the command line: positions, files, standard input, records; go mate; second solutions."""

import io
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from bench.speed.mate import mates_by_checks
from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from tests import conftest
from tests.mate.test_dfpn import BARE_KING, FIRST_15_SHORTEST_9, loses
from tests.positions import HARD_MATE, data_rows
from tests.programs import interrupted, run_engine
from tests.records.common import RECORDS
from usi_engine.api.mate_lines import is_mate
from usi_engine.api.mate_search import mate
from usi_engine.api.second_solutions import Kind, SecondSolutionSearch
from usi_engine.mate_tool.command import main, problems_in

GOLD = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1"
NO_MATE = "4k4/9/9/9/9/9/9/9/9 b P2r2b4g4s4n4l17p 1"
SMALL = ("--hash", "4")
DIAGRAM = (RECORDS / "mate.kifu").read_text(encoding="utf-8")


@pytest.mark.parametrize("before", [[], ["sfen"], ["position", "sfen"]])
@pytest.mark.parametrize("quoted", [True, False])
def test_a_position(before: list[str], quoted: bool, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*before, *GOLD.split()]
    assert main([*([" ".join(words)] if quoted else words), *SMALL]) == 0
    assert capsys.readouterr().out == "mate in 1: G*5b\n"


@pytest.mark.parametrize(
    "words", [["startpos", "moves", "7g7f", "3c3d"], [str(RECORDS / "game.kif"), "--seconds", "5"]]
)
def test_a_position_after_moves(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Also the end of a game, whose start is not a problem."""
    assert main([*words, *SMALL]) == 1
    assert "no mate" in capsys.readouterr().out


def test_a_game_that_ends_in_mate_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    game = str(RECORDS / "whole_game.kifu")
    assert main([game, *SMALL]) == 1
    position = "ln2b1g1l/2r1gkSs1/5pPp1/psnpS1N1p/1p7/PPP5P/1G1PPP3/1B2KG3/LN5RL w 2P2p 92"
    assert capsys.readouterr().out.splitlines()[:2] == [f"{game}: the side to move is mated", f"    {position}"]


def test_a_file_is_solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "problems.tsv"
    file.write_text(f"# two\n1\t{GOLD}\tG*5b\n{GOLD} # note\n\n", encoding="utf-8")
    assert main([str(file), *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"problems.tsv, line {number}: mate in 1: G*5b" for number in (2, 3)]
    assert lines[-1].split()[:7] == ["all", "2", "2", "0", "0", "0", "0"]
    assert main([str(file), *SMALL, "--summary"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("length")


def test_unsolved_problems_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "problems.txt"
    file.write_text(f"{NO_MATE}\n\x1b[2J\n{BARE_KING}\n", encoding="utf-8")
    assert main([str(file), *SMALL, "--nodes", "1000", "--summary"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines[:6:2]] == ["no mate", "cannot be read", "undecided"]
    assert lines[2].endswith("cannot be read: an sfen has 3 or 4 fields: '\\x1b[2J'")  # not as it is
    assert lines[-1].split()[:7] == ["all", "3", "0", "1", "1", "1", "0"]
    assert [line.strip() for line in lines[1:6:2]] == [NO_MATE, "\\x1b[2J", BARE_KING]


@pytest.mark.parametrize("more", [[], ["--all"]])
def test_a_single_node_decides_nothing(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Half of one node is not 0, which would be no limit."""
    assert main([NO_MATE, *SMALL, "--nodes", "1", *more]) == 1
    assert capsys.readouterr().out == "undecided\n"


def test_threads_answer_in_the_order_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first problem takes by far the longest, at the end by all threads; there are more threads than problems."""
    (tmp_path / "problems.txt").write_text(f"{BARE_KING}\n{GOLD}\nno sfen\n{NO_MATE}\n", encoding="utf-8")
    printed = list[list[str]]()
    for threads in ("1", "2", "9"):
        words = [str(tmp_path / "problems.txt"), "--hash", "16", "--nodes", "20000", "--threads", threads]
        assert main(words) == 1
        printed.append([line[:79] for line in capsys.readouterr().out.splitlines()])  # no nodes and seconds
    assert [line.split()[2] for line in printed[0] if ", line" in line] == ["1:", "2:", "3:", "4:"]
    assert printed[1] == printed[2] == printed[0]


@pytest.mark.parametrize("length", ["abc", "9" * 5000, "-1", "1_0"])
def test_a_length_that_is_no_number_is_named_with_its_line(
    tmp_path: Path, length: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.tsv"
    file.write_text(f"1\t{GOLD}\n{length}\t{GOLD}\n", encoding="utf-8")
    assert main([str(file), *SMALL]) == 2
    assert capsys.readouterr().err.startswith(f"m.tsv, line 2: not a length in plies: '{length[:60]}")


@pytest.mark.parametrize(
    ("data", "name"), [(f"\ufeff{GOLD}\n\n# 詰将棋\n".encode(), "-, line 1"), (DIAGRAM.encode("cp932"), "-")]
)
def test_standard_input(
    data: bytes, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Problems line by line, or a record."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["-", *SMALL]) == 0
    assert capsys.readouterr().out == f"{name}: mate in 1: G*5b\n"


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_a_problem_as_a_record(encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "problem.kif"
    file.write_bytes(DIAGRAM.encode(encoding))
    assert main([str(file), *SMALL, "--japanese"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{file}: mate in 1: G*5b", "    ▲５二金"]


@pytest.mark.parametrize(("square", "solution"), [("５二", ("G*5b",)), ("４二", ())])
def test_moves_of_a_record_are_its_solution(square: str, solution: tuple[str, ...]) -> None:
    """If they mate."""
    text = f"{DIAGRAM}   1 {square}金打\n"
    assert [problem.solution for problem in problems_in(Path("problem.kif"), text)] == [solution]


@pytest.mark.parametrize("solve", [lambda: main([BARE_KING, *SMALL, "--nodes", "20000"]),
                                   lambda: mate(Board(BARE_KING), nodes=20_000)])  # fmt: skip
def test_no_wait_is_endless(solve: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows handles Ctrl-C only between two waits."""
    result = Future.result

    def checked_result(future: Future[Any], timeout: float | None = None) -> object:
        assert future.done()
        return result(future, timeout)

    monkeypatch.setattr(Future, "result", checked_result)
    solve()


@pytest.mark.skipif(os.name == "nt", reason="sends Ctrl-C as Unix does")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_interrupted_at_once(tmp_path: Path, threads: str) -> None:
    """Ctrl-C does not wait for the solver, which is running after the line of the easy problem."""
    (tmp_path / "problems.tsv").write_text(f"7k1/9/7P1/9/9/9/9/9/9 b G 1\n{HARD_MATE}\n{HARD_MATE}\n", encoding="utf-8")
    words = ["mate", str(tmp_path / "problems.tsv"), "--hash", "64", "--threads", threads]
    begun = list[float]()

    def until(started: subprocess.Popen[str]) -> None:
        assert started.stdout is not None and started.stdout.readline().endswith("line 1: mate in 1: G*2b\n")
        time.sleep(0.5)
        begun.append(time.monotonic())

    assert interrupted(words, until) == (130, "", "interrupted\n")
    assert time.monotonic() - begun[0] < 5


PAWN, ROOK = "8k/9/8P/9/9/9/9/9/4K4 b {} 1", "k8/pp7/9/9/9/9/9/9/4K3R b {} 1"


@pytest.mark.parametrize(
    ("sfen", "line", "mates", "by_checks"),
    [
        (PAWN.format("G"), "G*1b", True, True),
        # A quiet move proves no mate.
        (PAWN.format("2G"), "G*5e 1a2a 5i5h 2a1a G*1b", False, False),
        *((PAWN.format("G"), line, False, False) for line in ("G*5e", "", "G*2b 1a2b")),
        (ROOK.format("2p"), "5i5h 8b8c 1i1a+", False, False),
        # Pawns dropped before a rook that takes them with mate are futile; a gold can guard the king.
        (ROOK.format("2p"), "1i1a+", True, False),
        (ROOK.format("2g"), "1i1a+", False, False),
    ],
)
def test_lines_that_mate(sfen: str, line: str, mates: bool, by_checks: bool) -> None:
    board = Board(sfen)
    assert (is_mate(board, line.split()), mates_by_checks(board, line.split())) == (mates, by_checks)


def answer(sfen: str, go: str = "go mate infinite", *options: str) -> str:
    printed = run_engine(*options, f"position sfen {sfen}", go).stdout.splitlines()
    lines = [line for line in printed if line.startswith(("checkmate", "bestmove"))]
    assert len(lines) == 1
    return lines[0]


FIVE_PLIES = "8k/5G3/7G1/8S/8L/9/9/9/9 b 2r2b2g3s4n3l18p 1"


def test_shortest_is_the_default() -> None:
    """Five plies, and nine in a game's position whose first mate has fifteen. In the third the line of the first mate
    is as long as the shortest, but after 1h1g the mate takes fewer plies.
    """
    assert len(answer(FIVE_PLIES, "go mate infinite").split()) == 1 + 5
    assert len(answer(FIRST_15_SHORTEST_9, "go mate 60000").split()) == 1 + 9
    moves = answer("6S2/6S1L/7pB/8S/8B/7RN/8k/8N/9 b R4gs2n3l17p 1", "go mate infinite").split()
    assert moves[1:6] == ["R*2g", "1g1h", "2g2h", "1h1i", "2h2i"] and len(moves) == 1 + 11


def test_the_first_mate_alone() -> None:
    """Its nodes are those of the proof, and a shorter mate of nine plies is not looked for."""
    place, option = f"position sfen {FIRST_15_SHORTEST_9}", "setoption name MateShortest value"
    sizes = {}
    for value in ("first", "short"):
        printed = run_engine("setoption name Threads value 1", f"{option} {value}", place, "go mate infinite").stdout
        *_, info, mate = printed.splitlines()
        sizes[value] = len(mate.split()) - 1, int(info.split(" nodes ")[1].split()[0])
    assert sizes["first"][0] == 15 and sizes["first"][1] < sizes["short"][1]


# ---- second solutions ----

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


def test_checks_by_brute_force(solver: MateSolver, mate_problems: list[conftest.MateProblem]) -> None:
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
