"""Tools of the benches that count something and print a line: each on a few positions whose outcome is known."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest

from bench.speed import punctuality
from bench.strength import book_lines, mates_in_play, next_moves
from bench.strength.booked import BookedPlayer
from core_ext.board import Board
from tests.bench.helpers import MATE_IN_ONE, QUIET, run
from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.player import Player, PlayRules

# A dragon that can be taken for nothing.
CAPTURE = "4k4/9/9/9/4+r4/4G4/9/9/4K4 b - 1"


def test_next_moves_counts_the_moves_that_were_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line begins after the comment; the second one's move is not what a search chooses."""
    file = tmp_path / "moves.tsv"
    file.write_text(f"# sfen\tmove\n{CAPTURE}\t5f5e\tmore\n{CAPTURE}\t5i6i\n", encoding="utf-8")
    run(next_moves, monkeypatch, str(file), "--nodes", "500", "--eval", "material")
    assert capsys.readouterr().out.startswith("material: 1 of 2 moves, 50.0 % +- 35.4 at 500 nodes")
    run(next_moves, monkeypatch, str(file), "--nodes", "500", "--eval", "material", "--first", "1", "--count", "5")
    assert capsys.readouterr().out.startswith("material: 0 of 1 moves")
    with pytest.raises(SystemExit, match="no position from number 2 on"):
        run(next_moves, monkeypatch, str(file), "--first", "2")


def test_mates_in_play_against_the_length_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second line's length is too long; the third line has no mate, and that alone is a fault."""
    lines = [f"{length}\t{sfen}\t-\n" for length, sfen in ((1, MATE_IN_ONE), (3, MATE_IN_ONE), (5, QUIET))]
    file = tmp_path / "problems.tsv"
    file.write_text("".join(lines), encoding="utf-8")
    options = ("--time", "100", "--options", "EvalFile=material")
    assert run(mates_in_play, monkeypatch, str(file), "--longest", "3", *options) == 0
    printed = capsys.readouterr().out
    assert "mate in 1: 1 equal, 0 shorter, 0 longer, 0 missed;" in printed
    assert "mate in 3: 0 equal, 1 shorter, 0 longer, 0 missed;" in printed
    assert run(mates_in_play, monkeypatch, str(file), "--longest", "5", *options) == 1
    assert "mate in 5: 0 equal, 0 shorter, 0 longer, 1 missed;" in capsys.readouterr().out


def test_a_longer_mate_than_the_file_has_is_a_fault() -> None:
    assert [mates_in_play.compared(plies, 3) for plies in (None, 1, 3, 5)] == ["missed", "shorter", "equal", "longer"]


def test_a_booked_player_leaves_the_book_where_that_ends() -> None:
    player = Player(load_evaluation("material"), PlayRules(nodes=500))
    booked = BookedPlayer(player, INTERNAL, random.Random(1))
    booked.new_game()
    first = booked.think(Board())[0]
    assert first in {entry.move for entry in BookPlayer(open_book(INTERNAL), print).moves(Board(), look_turned=True)}
    assert booked.think(Board(CAPTURE))[0] == "5f5e"


def test_lines_of_the_book_differ(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(book_lines, monkeypatch, "--games", "4", "--plies", "2", "--nodes", "100")
    found = re.fullmatch(r"(\d) lines and (\d) positions differ after 2 plies of 4 games\n", capsys.readouterr().out)
    assert found
    assert 1 < int(found[1]) <= 4


def test_answers_are_measured_against_their_clock() -> None:
    """The time left falls by what a move took, and what it renews is added."""
    clock = punctuality.Clock(1000, 0, 200)
    assert clock.go([300, 400]) == "go btime 300 wtime 400 binc 200 winc 200"
    with mates_in_play.Engine(["Threads=1", "USI_OwnBook=false", "EvalFile=material"]) as engine:
        taken = list(itertools.islice(punctuality.answers(engine, clock), 3))
    assert [answer.allowed for answer in taken[:2]] == [1000, 1000]
    assert taken[2].allowed == 1000 - int(taken[0].used) + 200
    assert punctuality.row(clock, taken)[:2] == ["1000 + 200", "3"]


def test_late_is_after_the_flag() -> None:
    """One that takes all of its time is not late, one that takes a millisecond more is."""
    on_time, late = punctuality.Answer(100.0, 100), punctuality.Answer(101.0, 100)
    assert (on_time.late, late.late) == (False, True)
    assert punctuality.row(punctuality.Clock(0, 100), [on_time, late])[-2:] == ["-1", "1"]
