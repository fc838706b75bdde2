"""`usi_engine suite`."""

from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from tests.analysis.common import QUICK
from tests.positions import MATE_IN_ONE, described_rows
from tests.records.common import valued
from tests.shogi.slow_shogi import START
from usi_engine.analysis.analyst import Analyst
from usi_engine.analysis.suite import Problem, SuiteError, attempt, main, read_problem
from usi_engine.search.results import Analysis, Score, Variation, Watch

TEN = Score(10)


@pytest.mark.parametrize(("line", "moves", "name"), described_rows("suite_lines.jsonl"))
def test_forms_of_a_line(line: str, moves: list[str], name: str) -> None:
    problem = read_problem(line)
    assert problem is not None
    assert ([*problem.moves], problem.avoid, problem.name) == (moves, False, name)


def test_moves_to_avoid_and_lines_without_a_problem() -> None:
    problem = read_problem(f"{START} am 7g7f;")
    assert problem is not None
    assert problem.solved_by("2g2f")
    assert not problem.solved_by("7g7f")
    assert read_problem("") is None
    assert read_problem("# comment") is None


@pytest.mark.parametrize(
    "line, message",
    [
        (START, "no move to find"),
        (f"{START}\t7g7e", "illegal move: '7g7e'"),
        (f"{START}\tnonsense", "illegal move: 'nonsense'"),
        ("nonsense\t7g7f", "nonsense"),
        ("startpos moves 7g7f 7g7f bm 2g2f;", "7g7f"),
    ],
)
def test_faulty_lines(line: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        read_problem(line)


def test_found_since_when_the_choice_stayed_right() -> None:
    class Scripted(Analyst):
        def __init__(self, *moves: str) -> None:
            self.moves = moves

        def evaluate(self, board: Board, *_: Any, watch: Watch | None = None, **__: Any) -> Analysis:
            assert watch
            for depth, move in enumerate(self.moves, 1):
                watch(Analysis((Variation(TEN, (move,), depth, depth),), TEN, depth, 0, depth / 2))
            return valued(10, self.moves[-1])

    problem = Problem(Board(), ("7g7f",))
    found = attempt(Scripted("7g7f", "2g2f", "7g7f", "7g7f"), problem)
    assert (found.depth, found.seconds) == (3, 1.5)
    assert attempt(Scripted("7g7f", "2g2f"), problem).depth == 0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp932"])
def test_table(encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "suite.tsv"
    file.write_text(f"# two\n{MATE_IN_ONE}\tG*5b\t一手詰\n{MATE_IN_ONE}\t5c5b\n", encoding=encoding)
    assert main([str(file), *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:2] == ["1", "yes"]
    assert lines[2].endswith("G*5b   G*5b           一手詰")
    assert lines[3].split()[:2] == ["2", "no"]
    assert lines[4].startswith("1 of 2 found, 50.0 %, at 300 nodes a position; found at depth 1.0")


@pytest.mark.parametrize("text, message", [("", "the file holds no position"), ("\nx\x1by\n", "line 2: ")])
def test_files_that_hold_nothing(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "suite.txt"
    file.write_text(text, encoding="utf-8")
    assert main([str(file), *QUICK]) == 2
    error = capsys.readouterr().err
    assert message in error and error[:-1].isprintable()
    assert main([str(tmp_path / "none"), *QUICK]) == 2
    with pytest.raises(SystemExit):
        main(["file", "--threads=513"])
