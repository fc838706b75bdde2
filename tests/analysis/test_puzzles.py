"""Puzzles: one clearly best move, confirmed, mates with a single solution; `usi_engine suite`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from tests.positions import MATE_IN_ONE, described_rows
from tests.records.common import QUICK, RECORDS, judged, mating, valued
from tests.shogi.slow_shogi import START
from usi_engine.analysis import suite
from usi_engine.analysis.analyst import Analyst
from usi_engine.analysis.analyze import main
from usi_engine.analysis.puzzles import Search, find_puzzles, puzzle_data
from usi_engine.analysis.suite import Problem, SuiteError, attempt, read_problem
from usi_engine.search.results import Analysis, Score, Variation, Watch

EVEN = valued(0, "9g9f")
FOUND = (valued(300, "2g2f"), valued(-300, "3c3d"))
MISTAKE = (valued(300, "2g2f"), valued(300, "3c3d"))  # Black plays another move and loses 24.6 points

THREE = "9/9/6S2/8k/9/7R1/9/9/9 b r2b4g3s3n4l18p 1"  # 3c2d+ 1d1e 2d2e
SEVERAL = "6k2/9/7R1/5N3/7L1/9/9/9/9 b r2b4g4s3n3l18p 1"  # 2c2b+ and other checks mate


def two(best: int, second: int, *pv: str) -> Analysis:
    """A result with two lines."""
    found = valued(best, *pv)
    return replace(found, lines=(*found.lines, *valued(second, "1g1f").lines))


def search_of(first: Analysis, deep: Analysis) -> Search:
    """A search that gives these results at ply 0, and at other plies nothing clear."""
    return lambda ply, _board, effort, _lines: EVEN if ply else deep if effort > 1 else first


@pytest.mark.parametrize("first, deep, count", [
    (two(300, -300, "2g2f"), two(350, -150, "2g2f", "8c8d"), 1),
    (two(300, 100, "2g2f"), two(350, -100, "2g2f"), 0),  # not clear
    (two(300, -300, "2g2f"), two(350, 100, "2g2f"), 0),  # not confirmed
    (two(300, -300, "2g2f"), two(350, -100, "9g9f"), 0),  # another best move
    (two(-400, -1500, "2g2f"), two(-400, -1500, "2g2f"), 0),  # the best move loses too
    (valued(300, "2g2f"), valued(300, "2g2f"), 0),  # the only move
    (valued(300), valued(300), 0),  # a damaged cache
])  # fmt: skip
def test_one_clearly_best_move(first: Analysis, deep: Analysis, count: int) -> None:
    puzzles = find_puzzles(judged("2g2f", *FOUND), search_of(first, deep))
    assert len(puzzles) == count
    for data in map(puzzle_data, puzzles):
        assert (data["ply"], data["side"], data["solution"]) == (0, "black", ("2g2f",))
        assert (len(data["legal"][0]), data["accept"], data["names"]) == (30, (("2g2f",),), ["☗P-2f"])
        chances = "a winning chance of 64.2 %, the next best move, ☗P-1f, only 43.8 %."
        assert data["answer"] == f"☗P-2f has {chances}"


def test_a_mistake_is_tried_again() -> None:
    """Any move that loses at most 5 points is a solution; if most moves are, or a retreat is, there is no puzzle."""
    game = judged("7g7f", *MISTAKE)
    (puzzle,) = find_puzzles(game, search_of(two(300, 280, "2g2f"), two(300, 280, "2g2f")))
    assert (puzzle.goal, puzzle.accept) == ("Black to move: find a better move than ☗P-7f", (("2g2f", "1g1f"),))
    assert [puzzle.accept for puzzle in find_puzzles(game, search_of(*[two(300, 100, "2g2f")] * 2))] == [(("2g2f",),)]
    many = replace(EVEN, lines=EVEN.lines * 6)
    assert find_puzzles(game, search_of(many, many)) == []
    retreat = judged("sfen 3k5/9/9/9/9/4R4/9/9/4K4 b - 1 moves 5f5e", valued(300, "5f5h"), valued(300, "6a7a"))
    assert find_puzzles(retreat, search_of(EVEN, EVEN)) == []


@pytest.mark.parametrize("played, count", [("9i8h", 0), ("5i4i", 1)])
def test_taking_back_is_a_puzzle_only_if_it_was_missed(played: str, count: int) -> None:
    start = "sfen 4k4/9/9/9/9/9/1r7/1G7/B3K4 w - 1 moves 8g8h+"
    after = valued(-300, "5a5b") if not count else valued(300, "5a5b")
    game = judged(f"{start} {played}", valued(-300, "8g8h+"), valued(300, "9i8h"), after)
    clear = two(300, -400, "9i8h")
    assert len(find_puzzles(game, lambda ply, *_of: clear if ply == 1 else EVEN)) == count


@pytest.mark.parametrize("sfen, played, count", [
    (THREE, "3c2d+", 1), (THREE, "3c3b", 1), (SEVERAL, "2c2b+", 0),
])  # fmt: skip
def test_a_mate_with_one_solution(sfen: str, played: str, count: int) -> None:
    game = judged(f"sfen {sfen} moves {played}", mating(3, "3c2d+" if sfen == THREE else "2c2b+"), mating(-2, "1a2a"))
    puzzles = find_puzzles(game, lambda *_of: EVEN)
    assert len(puzzles) == count
    for data in map(puzzle_data, puzzles):
        assert data["goal"] == "Black to move: find the mate in 3"
        assert data["solution"] == ("3c2d+", "1d1e", "2d2e")
        assert data["accept"] == (("3c2d+",), ("2d2e",))
        assert "2d2e" in data["legal"][1]


def test_a_mate_in_one_is_a_puzzle_only_if_it_was_missed() -> None:
    sfen = "9/7R1/8k/7L1/9/9/9/9/9 b r2b4g4s3n3l18p 1"
    for played, after, count in (("2b2c+", mating(0), 0), ("2b3b", valued(-300, "1c1d"), 1)):
        game = judged(f"sfen {sfen} moves {played}", mating(1, "2b2c+"), after)
        assert len(find_puzzles(game, lambda *_of: EVEN)) == count


@pytest.mark.parametrize("last, plies", [("2d2e", [0]), ("2d1d", [0, 2])])
def test_a_mate_that_goes_on_is_one_puzzle(last: str, plies: list[int]) -> None:
    """Its next position is another one only if the game then missed it."""
    after = mating(0) if last == "2d2e" else valued(0, "1e1d")
    values = [mating(3, "3c2d+"), mating(-2, "1d1e"), mating(1, "2d2e"), after]
    game = judged(f"sfen {THREE} moves 3c2d+ 1d1e {last}", *values)
    assert [puzzle.ply for puzzle in find_puzzles(game, lambda *_of: EVEN)] == plies


def test_command_finds_the_same_again(tmp_path: Path, cache_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results of both searches are kept; a run with another number of lines does not take them."""
    words = [str(RECORDS / "whole_game.kifu"), "--nodes", "100", "--hash", "1", "--eval", "material", "--puzzles"]
    pages = []
    for name in ("first.html", "second.html"):
        assert main([*words, "--html", str(tmp_path / name)]) == 0
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
    kept = len(list((cache_folder / "analysis").iterdir()))
    assert kept == 5  # both searches of puzzles, three of the game


# ---- `usi_engine suite` ----

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
    assert suite.main([str(file), *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[:2] == ["1", "yes"]
    assert lines[2].endswith("G*5b   G*5b           一手詰")
    assert lines[3].split()[:2] == ["2", "no"]
    assert lines[4].startswith("1 of 2 found, 50.0 %, at 300 nodes a position; found at depth 1.0")
