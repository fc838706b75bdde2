"""The points of the learning curve: measured once each, kept as soon as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.strength import learning_curve
from usi_engine.learn.corpus.build import build_corpus


def test_each_point_is_measured_once(
    teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build_corpus([teacher], tmp_path / "corpus", every=5)
    file = tmp_path / "learning.json"
    monkeypatch.setattr(learning_curve, "FILE", file)
    monkeypatch.setattr(learning_curve, "MODELS", ["P"])
    monkeypatch.setattr(learning_curve, "COUNTS", (100, 0))
    learning_curve.measure(tmp_path / "corpus", 1, 1)
    known = json.loads(file.read_text(encoding="utf-8"))
    assert list(known) == ["P"]
    assert "100" in known["P"] and len(known["P"]) == 2
    assert all(divergence > 0 and -1 <= correlation <= 1 for divergence, correlation in known["P"].values())
    assert capsys.readouterr().out.count("divergence and correlation") == 2
    learning_curve.measure(tmp_path / "corpus", 1, 1)
    assert capsys.readouterr().out == ""
