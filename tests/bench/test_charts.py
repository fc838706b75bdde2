"""The charts of docs/figures, and the records that their figures come from."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import FIGURES
from bench.strength import elo, rule_values

CHARTS = {"rules.py": "rules.svg", "learning_curve.py": "learning-curve.svg", "levels.py": "levels.svg"}


def test_a_rule_is_worth_what_its_absence_costs(tmp_path: Path) -> None:
    """The record is of the side without the rule."""
    record = tmp_path / "null move" / "pairs.jsonl"
    record.parent.mkdir()
    record.write_text("".join(f'{{"points": {points}}}\n' for points in ([0.0, 1.0], [0.0, 0.5], [0.0, 0.0])))
    row = rule_values.worth(record.parent)
    assert (row["rule"], row["won"], row["drawn"], row["lost"]) == ("null move", 4, 1, 1)
    assert row["elo"] == round(elo.elo(4.5 / 6))
    assert row["low"] < row["elo"] < row["high"]


def drawn(folder: Path, script: str) -> bytes:
    """The chart that a copy of docs/figures in this folder draws."""
    folder.mkdir()
    for path in (*FIGURES.glob("*.py"), *FIGURES.glob("*.json")):
        (folder / path.name).write_bytes(path.read_bytes())
    subprocess.run([sys.executable, folder / script], check=True)
    return (folder / CHARTS[script]).read_bytes()


@pytest.mark.parametrize("script", CHARTS)
def test_a_chart_is_the_same_at_every_run(tmp_path: Path, script: str) -> None:
    assert drawn(tmp_path / "one", script) == drawn(tmp_path / "two", script)


def test_charts_show_every_row_of_their_figures() -> None:
    rules = (FIGURES / "rules.svg").read_text(encoding="utf-8")
    for row in json.loads((FIGURES / "rules.json").read_text(encoding="utf-8")):
        assert f">{row['rule']}<" in rules
        assert f">{row['elo']:+d} (" in rules
    curves = (FIGURES / "learning-curve.svg").read_text(encoding="utf-8")
    for model in json.loads((FIGURES / "learning.json").read_text(encoding="utf-8")):
        assert f">{model}<" in curves
    levels = (FIGURES / "levels.svg").read_text(encoding="utf-8")
    for row in json.loads((FIGURES / "levels.json").read_text(encoding="utf-8")):
        assert f">{row['elo']:+d}<" in levels
