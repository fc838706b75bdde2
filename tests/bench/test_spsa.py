"""Tuning of search constants by games."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.strength import spsa
from tests.bench.helpers import run_line

pytestmark = pytest.mark.usefixtures("usual_constants")


def test_an_unknown_constant_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_line(spsa, monkeypatch, "spsa NoSuch:1 --keep x")
    assert "'NoSuch' is none of" in capsys.readouterr().err


def test_tuning_moves_towards_the_winner_within_the_range() -> None:
    tuning = spsa.Tuning({"FutilityBase": 100.0, "LmrMove": 2.0}, 100, 0.02, 1)
    before = dict(tuning.values)
    shift, raised, lowered = tuning.perturbed(0)
    assert all(raised[name] != lowered[name] for name in before)
    tuning.learn(0, shift, 2.0)
    assert all((tuning.values[name] - before[name]) * shift[name] > 0 for name in before)
    for pair in range(1, 3000):
        tuning.learn(pair, {"FutilityBase": -500.0, "LmrMove": -50.0}, 2.0)
    assert tuning.values == {"FutilityBase": 0.0, "LmrMove": 0.0}


def test_a_pair_that_ended_out_of_turn_is_learned_once() -> None:
    tuning = spsa.Tuning({"LmrScale": 4.0}, 5, 0.02, 1)
    for pair in (1, 3):
        tuning.learn(pair, {"LmrScale": 1.0}, 2.0)
    assert [task[0] for task in spsa.make_tasks(tuning, 9)] == [0, 2, 4] and tuning.done == 2


def test_tuning_plays_its_pairs_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"spsa LmrScale:4 --nodes 60 --keep {tmp_path} --processes 2 --weights material"
    values = list[str]()
    for pairs in ("3", "5"):
        run_line(spsa, monkeypatch, f"{line} --pairs {pairs}")
        assert len((tmp_path / "pairs.jsonl").read_text().splitlines()) == 1 + int(pairs)
        values.append(capsys.readouterr().out)
    run_line(spsa, monkeypatch, f"{line} --pairs 5")
    assert capsys.readouterr().out == values[1]
