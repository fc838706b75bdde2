"""Training runs: order of positions, learning rates, checkpoints, threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core_ext.training import king_zones
from tests.learn.helpers import RATES, sums_of
from usi_engine.learn import kpp
from usi_engine.learn.corpus.build import build_corpus
from usi_engine.learn.corpus.chances import Positions
from usi_engine.learn.kpp import Plan, Training, sort_by_zones


@pytest.mark.parametrize("model", ["PP", pytest.param("KPPT", marks=pytest.mark.slow)])
def test_two_threads_give_the_same_bytes_as_one(teacher: Path, tmp_path: Path, model: str) -> None:
    build_corpus([teacher], tmp_path / "corpus", every=5)
    made = []
    for threads in (1, 2):
        training = Training(tmp_path / "corpus", tmp_path / str(threads), Plan(model=model, epochs=1, threads=threads))
        training.run()
        made.append(sums_of(training.trainer))
        del training  # KPPT takes a gigabyte
    assert made[0] == made[1]


def test_sorting_by_zones_keeps_the_positions(positions: Positions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kpp, "SORT_SPAN", 500)
    ordered = sort_by_zones(positions)
    for start in range(0, len(positions), 500):
        span = ordered[start : start + 500]
        assert sorted(span["key"]) == sorted(positions[start : start + 500]["key"])
        zones = king_zones()[span["king"]]
        pairs_of_zones = zones[:, 0] * 11 + zones[:, 1]
        assert len(np.unique(pairs_of_zones)) > 2
        assert (np.diff(pairs_of_zones) >= 0).all()


def interrupt() -> list[float]:
    raise KeyboardInterrupt


def test_an_interrupted_run_resumes_bit_for_bit(teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_corpus([teacher], tmp_path / "corpus")
    plan = Plan(model="PP", epochs=2)
    whole = Training(tmp_path / "corpus", tmp_path / "whole", plan)
    whole.run()
    broken = Training(tmp_path / "corpus", tmp_path / "broken", plan)
    monkeypatch.setattr(broken, "rates", lambda epoch: interrupt() if epoch else plan.rates)
    with pytest.raises(KeyboardInterrupt):
        broken.run()
    resumed = Training(tmp_path / "corpus", tmp_path / "broken", plan)
    resumed.run()
    assert resumed.curve == whole.curve
    assert [point["epoch"] for point in whole.curve] == [1.0, 2.0]
    for name in whole.trainer.terms:
        assert resumed.trainer.parameters(name).tobytes() == whole.trainer.parameters(name).tobytes()


def test_learning_rates_decay_by_epoch_and_within_the_last(teacher: Path, tmp_path: Path) -> None:
    build_corpus([teacher], tmp_path / "corpus")
    plan = Plan(model="P", epochs=2, rates=(1.0,) * len(RATES), rate_decay=0.5, last_decay=0.1)
    training = Training(tmp_path / "corpus", tmp_path / "run", plan)
    assert training.rates(0) == [1.0] * len(RATES)
    training.done = training.file.count
    assert training.rates(1) == [0.5] * len(RATES)
    training.done += training.file.count // 2
    assert training.rates(1)[0] == pytest.approx(0.5 * 0.55, rel=1e-3)
