"""Tuning of search constants by games."""

from __future__ import annotations

import json
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
    tuning.learn(shift, 2.0)
    assert all((tuning.values[name] - before[name]) * shift[name] > 0 for name in before)
    for _ in range(3000):
        tuning.learn({"FutilityBase": -500.0, "LmrMove": -50.0}, 2.0)
    assert tuning.values == {"FutilityBase": 0.0, "LmrMove": 0.0}


def test_tuning_plays_its_pairs_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"spsa LmrScale:4 --nodes 60 --keep {tmp_path} --processes 2 --weights material"
    for pairs in ("3", "5"):
        run_line(spsa, monkeypatch, f"{line} --pairs {pairs}")
        assert json.loads((tmp_path / "state.json").read_text())["done"] == int(pairs)
    assert "3/3" in capsys.readouterr().err
