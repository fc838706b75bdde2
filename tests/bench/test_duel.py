"""Duels, the tuning by games and their statistics (bench/duel.py, bench/spsa.py, bench/elo.py)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bench import rules_chart
from bench.strength import duel, elo, nodestime, spsa
from core_ext.engine import set_tunable, tunables
from usi_engine import timeman

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


@pytest.fixture(autouse=True)
def usual_constants():
    yield
    for name, _, default, *_ in tunables():
        set_tunable(name, default)


@pytest.mark.parametrize("difference", [-300.0, -20.0, 0.0, 35.0, 400.0])
def test_elo_and_expected_score_are_inverse(difference: float) -> None:
    assert elo.elo(elo.expected(difference)) == pytest.approx(difference)


def test_error_bars_shrink_with_the_root_of_the_games() -> None:
    few, many = elo.with_error([0.0, 1.0] * 50), elo.with_error([0.0, 1.0] * 200)
    assert few["score"] == many["score"] == 0.5
    assert few["elo_error"] == pytest.approx(2 * many["elo_error"])
    assert few["score_error"] == pytest.approx(1.96 * 0.5 / math.sqrt(100))


def test_sequential_test_decides_both_ways() -> None:
    good, bad = [1.0] * 60 + [0.5] * 40 + [0.0] * 20, [0.0] * 60 + [0.5] * 40 + [1.0] * 20
    assert elo.verdict(elo.likelihood_ratio(good, 0, 50)) == "better"
    assert elo.verdict(elo.likelihood_ratio(bad, 0, 50)) == "worse"
    assert elo.verdict(elo.likelihood_ratio([0.5, 1.0, 0.0] * 4, 0, 20)) == "open"


def settings(first: int, second: int) -> tuple[duel.Setting, duel.Setting]:
    return duel.Setting(first, "material"), duel.Setting(second, "material")


def test_more_nodes_win() -> None:
    stronger = duel.Duel(settings(400, 8), [START])
    points = [point for number in range(3) for point in stronger.play_pair(number)["points"]]
    assert sum(points) >= 5


def test_constants_reach_their_side_and_the_same_pair_repeats() -> None:
    alike = duel.Duel(settings(200, 200), [START])
    pair = alike.play_pair(0)
    assert sum(pair["points"]) == 1.0  # a side against itself wins what it loses
    alike.set_constants({"ProbcutMargin": 50, "FutilityBase": 0}, {"ProbcutMargin": 800, "FutilityBase": 800})
    other = alike.play_pair(0)
    assert (other["points"], other["plies"]) != (pair["points"], pair["plies"])
    assert {name: value for name, value, *_ in tunables()}["ProbcutMargin"] in (50, 800)


def test_on_a_clock_of_nodes_who_has_no_time_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeman, "MOVES_AT_START", timeman.MOVES_AT_START)  # put back at the end
    monkeypatch.setattr(timeman, "MOVES_AT_LEAST", timeman.MOVES_AT_LEAST)
    time = nodestime.NodeTime.read("2000+20/10")
    assert (time.main, time.increment, time.nodes) == (2000, 20, 10)
    usual = {"MOVES_AT_START": 48.0, "MOVES_AT_LEAST": 30.0}
    late = {"MOVES_AT_START": 4000.0, "MOVES_AT_LEAST": 4000.0}
    both = [duel.Setting(0, "material", constants, time) for constants in (usual, late)]
    games = duel.Duel((both[0], both[1]), [START])
    points = [point for number in range(3) for point in games.play_pair(number)["points"]]
    assert sum(points) >= 4


def test_a_record_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    openings = tmp_path / "openings.sfen"
    openings.write_text("startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n", encoding="utf-8")
    line = f"duel A --games 4 --nodes 30 --weights material --weights-b material --openings {openings} --processes 1"
    monkeypatch.setattr("sys.argv", [*line.split(), "--keep", str(tmp_path)])
    duel.run(duel.parse())
    first = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(text)["pair"] for text in first] == [0, 1]
    duel.run(duel.parse())
    assert (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines() == first
    assert "of 4, Elo" in capsys.readouterr().out


def test_unknown_constant_is_named() -> None:
    with pytest.raises(Exception, match="'NoSuch' is none of"):
        duel.constant("NoSuch=3")
    with pytest.raises(SystemExit, match="NoSuch"):
        spsa.Tuning({"NoSuch": 1.0}, 10, 0.01, 1)


def test_tuning_moves_towards_the_winner_within_the_range() -> None:
    tuning = spsa.Tuning({"FutilityBase": 100.0, "LmrScale": 2.0}, 100, 0.02, 1)
    before = dict(tuning.values)
    shift, raised, lowered = tuning.perturbed(0)
    assert all(raised[name] != lowered[name] for name in before)
    tuning.learn(shift, 2.0)
    assert all((tuning.values[name] - before[name]) * shift[name] > 0 for name in before)
    for _ in range(3000):
        tuning.learn({"FutilityBase": -500.0, "LmrScale": -50.0}, 2.0)
    assert tuning.values == {"FutilityBase": 0.0, "LmrScale": 4.0}


def test_tuning_plays_its_pairs_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"spsa LmrScale:4 --nodes 60 --keep {tmp_path} --processes 2 --tell 2 --weights material"
    for pairs in ("3", "5"):
        monkeypatch.setattr("sys.argv", [*line.split(), "--pairs", pairs])
        spsa.run(spsa.parse())
        assert json.loads((tmp_path / "state.json").read_text())["done"] == int(pairs)
    assert "2/3 pairs" in capsys.readouterr().out


def test_chart_of_rules_turns_the_record_round(tmp_path: Path) -> None:
    """The record is of the side without the rule; the chart tells what the rule is worth."""
    record = tmp_path / "null move" / "pairs.jsonl"
    record.parent.mkdir()
    record.write_text("".join(f'{{"points": {points}}}\n' for points in ([0.0, 1.0], [0.0, 0.5], [0.0, 0.0])))
    row = rules_chart.worth(record.parent)
    assert (row["rule"], row["won"], row["drawn"], row["lost"]) == ("null move", 4, 1, 1)
    assert row["elo"] == round(elo.elo(4.5 / 6))
    assert f"{row['elo']:+d} of 6 games" in rules_chart.draw([row])


def test_a_constant_of_the_search_is_a_whole_number() -> None:
    assert duel.constant("LmrBase=-34") == ("LmrBase", -34)
    assert duel.constant("NEW_ITERATION_SHARE=0.5") == ("NEW_ITERATION_SHARE", 0.5)
    with pytest.raises(ValueError, match=r"0\.5"):
        duel.constant("LmrBase=0.5")
