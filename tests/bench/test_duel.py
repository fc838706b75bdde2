"""Duels at fixed nodes and on a clock that counts nodes."""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from pathlib import Path

import pytest

from bench.strength import duel, nodestime
from bench.strength.run import kept_rows
from core_ext.board import Board
from core_ext.engine import tunables
from tests.bench.helpers import run_line
from tests.programs import run_command
from tests.shogi.slow_shogi import START
from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.learn.player import Player, PlayRules
from usi_engine.search import timeman

OPENINGS = [
    START,
    "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3",
    "lnsgkgsnl/1r5b1/p1ppppppp/1p7/9/7P1/PPPPPPP1P/1B5R1/LNSGKGSNL b - 3",
]

pytestmark = pytest.mark.usefixtures("usual_constants")


def points(first: duel.Setting, second: duel.Setting) -> float:
    """Return the points of the first in six games."""
    games = duel.Duel((first, second), OPENINGS, first.weights, second.weights)
    return float(sum(point for number in range(3) for point in games.play_pair(number)["points"]))


def test_more_nodes_win() -> None:
    assert points(duel.Setting(400, "material"), duel.Setting(8, "material")) >= 5


def test_constants_reach_their_side_and_the_same_pair_repeats() -> None:
    alike = duel.Duel((duel.Setting(200, "material"), duel.Setting(200, "material")), [START], *["material"] * 2)
    pair = alike.play_pair(0)
    assert sum(pair["points"]) == 1.0  # a side against itself wins what it loses
    alike.set_constants({"ProbcutMargin": 50, "FutilityBase": 0}, {"ProbcutMargin": 800, "FutilityBase": 800})
    other = alike.play_pair(0)
    assert (other["points"], other["plies"]) != (pair["points"], pair["plies"])
    assert {value == default for _, value, default, *_ in tunables()} == {True}


def test_on_a_clock_of_nodes_the_side_without_time_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeman, "MOVES_AT_START", timeman.MOVES_AT_START)  # restored at the end
    monkeypatch.setattr(timeman, "MOVES_AT_LEAST", timeman.MOVES_AT_LEAST)
    time = nodestime.NodeTime.read("20000+1/10")
    assert (time.main, time.increment, time.nodes) == (20000, 1, 10)
    usual = {"MOVES_AT_START": 84.0, "MOVES_AT_LEAST": 50.0}
    late = {"MOVES_AT_START": 4000.0, "MOVES_AT_LEAST": 4000.0}
    assert points(*(duel.Setting(0, "material", constants, time) for constants in (usual, late))) >= 5


PIECE_VALUES = "--nodes 30 --weights material --weights-b material --processes 1"


def test_a_record_is_resumed_and_no_pair_is_played_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same opening gives the same game if there is no book."""
    openings, kept = tmp_path / "openings.sfen", tmp_path / "pairs.jsonl"
    openings.write_text("startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n", encoding="utf-8")
    line = f"duel A {PIECE_VALUES} --openings {openings} --keep {tmp_path}"
    run_line(duel, monkeypatch, f"{line} --games 4")
    first = kept.read_text(encoding="utf-8")
    assert [json.loads(text)["pair"] for text in first.splitlines()[1:]] == [0, 1]
    run_line(duel, monkeypatch, f"{line} --games 4")
    assert kept.read_text(encoding="utf-8") == first
    assert re.search(r"of 4, score [0-9.]+ % \(.* to .*\), Elo \S+ \(.* to .*\)", capsys.readouterr().out)
    with pytest.raises(ValueError, match="2 openings make 4 games, not 5"):
        run_line(duel, monkeypatch, f"{line} --games 5")


@pytest.mark.parametrize("change", ["program", "weights", "folder", "nodes"])
def test_a_record_of_other_conditions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Another argument, a file that it names, the network of a folder, or the program."""
    network = tmp_path / "network" / "nn.bin"
    network.parent.mkdir()
    network.write_bytes(b"one")
    monkeypatch.setattr("usi_engine.__path__", [str(tmp_path)])
    (tmp_path / "data").mkdir()
    values = {"nodes": 1, "weights": network, "folder": str(network.parent)}
    arguments = argparse.Namespace(keep=tmp_path / "kept", **{change: values.get(change)})
    for _ in range(2):
        kept_rows(arguments, "rows")
    if change == "nodes":
        arguments.nodes = 2
    else:
        (tmp_path / "data" / "nn.bin" if change == "program" else network).write_bytes(b"two")
    with pytest.raises(SystemExit, match=rf"other conditions \({change}\): name another folder"):
        kept_rows(arguments, "rows")


def test_a_constant_of_the_search_is_a_whole_number() -> None:
    with pytest.raises(Exception, match="'NoSuch' is none of"):
        duel.constant("NoSuch=3")
    assert duel.constant("LmrBase=-34") == ("LmrBase", -34)
    assert duel.constant("NEW_ITERATION_SHARE=0.5") == ("NEW_ITERATION_SHARE", 0.5)
    with pytest.raises(ValueError, match=r"0\.5"):
        duel.constant("LmrBase=0.5")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("duel A --book none.db", "none.db"),
        ("duel A --weights-b none.bin", "none.bin"),
        ("duel A --openings none.sfen", "none.sfen"),
        ("spsa LmrBase:10 --weights none.bin", "none.bin"),
        ("duel A --set LmrBase=99999999", "'99999999' is not a whole number from -3000 to 4000"),
        ("duel A --clock 10+1 --set MARGIN_SHARE=inf", "'inf' is not a number from 0 to"),
        ("duel A --set-b MARGIN_SHARE=0.5", "duel: MARGIN_SHARE needs --clock"),
        ("spsa LmrBase:inf", "'inf' is not a number from 0 to 7000"),
        ("spsa LmrBase", "'' is not a number from 0 to 7000"),
        ("spsa LmrBase:9 --rate nan", "'nan' is not a number from 0 to 1"),
    ],
)
def test_a_fault_is_named_and_nothing_is_begun(words: str, fault: str, tmp_path: Path) -> None:
    """The corrected command can use the folder afterwards."""
    module, *others = words.split()
    done = run_command([sys.executable, "-m", f"bench.strength.{module}", *others, "--keep", str(tmp_path / "kept")])
    assert done.returncode and fault in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "kept").exists()


def test_a_booked_player_searches_after_the_book() -> None:
    player = Player(load_evaluation("material"), PlayRules(nodes=500))
    booked = duel.BookedPlayer(player, INTERNAL, random.Random(1))
    booked.new_game()
    first = booked.think(Board())[0]
    assert first in {entry.move for entry in BookPlayer(open_book(INTERNAL), print).moves(Board(), flipped=True)}
    free_dragon = Board("4k4/9/9/9/4+r4/4G4/9/9/4K4 b - 1")
    assert booked.think(free_dragon)[0] == "5f5e"
