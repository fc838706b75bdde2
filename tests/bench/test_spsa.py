"""Tuning of search constants by games."""

from __future__ import annotations

import json
import re
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


def test_a_pair_that_ended_out_of_turn_is_learned_once(tmp_path: Path) -> None:
    first, again = (spsa.Tuning({"LmrScale": 4.0}, 5, 0.02, 1) for _ in range(2))
    for pair in (1, 3):
        first.learn(pair, {"LmrScale": 1.0}, 2.0)
    first.save(tmp_path / "state.json")
    again.load(tmp_path / "state.json")
    assert [task[0] for task in spsa.tasks_of(again, 9)] == [0, 2, 4]
    assert (again.done, again.values) == (2, first.values)


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"values": {"LmrScale": "x"}}', '{"values": {}, "pairs": 1}'])
def test_a_damaged_state_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"{re.escape(str(file))} is damaged: "):
        spsa.Tuning({"LmrScale": 4.0}, 5, 0.02, 1).load(file)


def test_tuning_plays_its_pairs_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"spsa LmrScale:4 --nodes 60 --keep {tmp_path} --processes 2 --weights material"
    for pairs in ("3", "5"):
        run_line(spsa, monkeypatch, f"{line} --pairs {pairs}")
        assert json.loads((tmp_path / "state.json").read_text())["pairs"] == int(pairs)
    assert "3/3" in capsys.readouterr().err
