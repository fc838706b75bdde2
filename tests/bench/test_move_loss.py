"""Settings compared by the moves they choose, one pair of settings or every constant at once."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

import numpy as np
import pytest

from bench.strength import move_loss, screen
from bench.strength.move_loss import Choice, Choices, Judge
from core_ext.board import Board
from core_ext.engine import set_tunable, tunables
from tests.shogi.slow_shogi import START

pytestmark = pytest.mark.usefixtures("usual_constants")

NO_MARGINS = {"FutilityBase": 0, "FutilitySlope": 10, "ReverseFutilitySlope": 10, "RazorBase": 0, "RazorSlope": 0}


def judge(deep: int = 4000) -> Judge:
    return Judge(None, [START], deep)


def usual_names() -> list[str]:
    return [name for name, *_ in tunables()]


def row(number: int, moves: list[str], scores: dict[str, float]) -> Choices:
    return {"position": number, "moves": moves, "scores": scores}


def test_the_same_number_is_the_same_undecided_position() -> None:
    boards = [judge().position(number) for number in range(8)]
    again = [judge().position(number) for number in range(8)]
    assert [board and board.sfen() for board in boards] == [board and board.sfen() for board in again]
    assert len({board.sfen() for board in boards if board}) >= 4


def test_more_nodes_choose_moves_that_a_deeper_search_prefers() -> None:
    sides = [Choice(3000, {}), Choice(10, {})]
    judged = judge(20_000)
    rows = [judged.choices(number, sides) for number in range(40)]
    assert sum(bool(found["scores"]) for found in rows) >= 10
    assert statistics.fmean(move_loss.differences(rows)) > 0


def test_constants_hold_for_their_side_only() -> None:
    judged = judge()
    alike = [judged.choices(number, [Choice(2000, {}), Choice(2000, {})]) for number in range(6)]
    assert not any(found["scores"] for found in alike)
    other = [judged.choices(number, [Choice(2000, {}), Choice(2000, NO_MARGINS)]) for number in range(6)]
    assert [found["moves"][:1] for found in other] == [found["moves"][:1] for found in alike]
    assert any(found["scores"] for found in other)
    assert all(value == default for _, value, default, *_ in tunables())


def test_constants_of_the_caller_do_not_reach_the_searches() -> None:
    before = judge().choices(0, [Choice(2000, {})])
    for name, value in NO_MARGINS.items():
        set_tunable(name, value)
    assert judge().choices(0, [Choice(2000, {})]) == before


def test_a_move_that_mates_is_worth_the_game_and_one_that_repeats_half() -> None:
    mate = Board("7nl/5kP2/3p2g1p/2p1gp3/p6s1/5BP2/PP3P2P/7R1/LNSGK2NL b RBGSN2Ps3p 1")
    judged = judge(60_000)
    assert judged.worth(mate, judged.choose(mate, Choice(60_000, {}))) > 0.99
    shuffle = ["2h3h", "8b7b", "3h2h", "7b8b"]
    board = Board(START)
    for move in (shuffle * 3)[:-1]:
        board.push(move)
    assert judged.worth(board, "7b8b") == 0.5


def test_positions_in_which_both_agree_count_as_no_difference() -> None:
    rows = [row(0, ["a", "b"], {"a": 0.6, "b": 0.5}), row(1, ["a", "a"], {}), row(2, [], {})]
    assert move_loss.differences(rows) == pytest.approx([0.1, 0.0])
    assert move_loss.report(rows) == "1 of 2 moves differ, worth +500.0 +- 500.0 of 1/10,000 a move"
    assert move_loss.report(rows[:1]) == "too few positions"


def test_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"move_loss --weights material --nodes 60 --deep 200 --set LmrBase=0 --keep {tmp_path} --processes 2"
    for positions in ("3", "20"):
        monkeypatch.setattr("sys.argv", [*line.split(), "--positions", positions])
        move_loss.run(move_loss.parse())
        kept = [json.loads(text) for text in (tmp_path / "moves.jsonl").read_text().splitlines()]
        assert [found["position"] for found in kept] == list(range(int(positions)))
    assert re.search(r"\d+ of \d+ moves differ", capsys.readouterr().out)
    monkeypatch.setattr("sys.argv", [*line.split(), "--nodes", "70"])
    with pytest.raises(SystemExit, match="other conditions"):
        move_loss.run(move_loss.parse())


def test_no_such_constant(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["move_loss", "--set", "NoSuch=1", "--keep", "x"])
    with pytest.raises(SystemExit):
        move_loss.parse()
    assert "'NoSuch' is none of" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["screen", "NoSuch", "--keep", "x"])
    with pytest.raises(SystemExit):
        screen.parse()
    assert "'NoSuch' is none of" in capsys.readouterr().err


def test_every_second_setting_mirrors_the_one_before() -> None:
    screened = screen.Screen(["LmrBase", "NullMargin", "AfterAlpha"], 20, 3, 100)
    signs = screened.signs(7)
    assert signs.shape == (6, 3)
    assert (signs[::2] == -signs[1::2]).all() and (signs == screened.signs(7)).all()
    usual = {name: default for name, _, default, *_ in tunables()}
    for setting, drawn in zip(screened.settings(7), signs, strict=True):
        for name, sign in zip(screened.names, drawn, strict=True):
            assert setting.constants[name] == usual[name] + sign * max(1, round(usual[name] / 5))


def test_steps_stay_within_the_range() -> None:
    screened = screen.Screen([], 100, 1, 100)
    ranges = {name: (least, greatest) for name, _, _, least, greatest in tunables()}
    for setting in screened.settings(1):
        assert all(ranges[name][0] <= value <= ranges[name][1] for name, value in setting.constants.items())


def test_the_fit_finds_what_a_step_is_worth() -> None:
    screened = screen.Screen(["LmrBase", "NullMargin", "LmrCut"], 20, 4, 100)
    truth, rng = np.array([0.02, 0.0, -0.01]), np.random.default_rng(3)
    rows = []
    for number in range(300):
        scores = 0.5 + screened.signs(number) @ truth + rng.normal(0, 0.02, 8)
        moves = [str(place) for place in range(8)]
        rows.append(row(number, moves, dict(zip(moves, scores.tolist(), strict=True))))
    worth, error = screened.worth([*rows, row(300, [], {})])
    assert worth == pytest.approx(truth, abs=0.002)
    assert error == pytest.approx([0.02 / np.sqrt(2400)] * 3, rel=0.1)
    with pytest.raises(SystemExit, match="1 positions are too few for 8"):
        screen.Screen(usual_names()[:8], 20, 4, 100).worth(rows[:1])
    found = screen.proposal(screened, worth, error)
    assert found["LmrBase"] > screened.usual["LmrBase"] and found["LmrCut"] < screened.usual["LmrCut"]


def test_a_screening_prints_every_constant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = (
        "screen LmrBase FutilityBase --weights material --nodes 80 --deep 200 --positions 24 --rounds 1 --processes 1"
    )
    monkeypatch.setattr("sys.argv", [*line.split(), "--keep", str(tmp_path)])
    screen.run(screen.parse())
    printed = capsys.readouterr().out
    assert "LmrBase" in printed and "FutilityBase" in printed and "to try:" in printed
