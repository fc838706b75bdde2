"""Warm start: exported weights are read back exactly, and training moves them little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core_ext.training import LOGIT
from tests.conftest import NewWorker
from tests.learn.helpers import noisy, random_game, sums_of, walked_positions, weights_of
from tests.learn.test_export import check_agreement
from usi_engine.evaluation.kpp_file import Folded, read_folded, save_weights
from usi_engine.evaluation.names import KPP, WeightsError
from usi_engine.learn.command import main
from usi_engine.learn.corpus.build import build_corpus
from usi_engine.learn.kpp import MODELS, Plan, Training, export, load_model, warm_start_plan


def words_of(folded: Folded) -> dict[str, np.ndarray]:
    """Return all arrays of the file, flat."""
    return {name: np.ravel(words) for name, words in vars(folded).items()}


def same(some: Folded, others: Folded) -> bool:
    others_words = words_of(others)
    return all(np.array_equal(words, others_words[name]) for name, words in words_of(some).items())


@pytest.fixture(scope="module")
def package() -> Folded:
    """The weights that come with the program."""
    return read_folded(KPP)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of random games."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "games.tsv").write_text("".join(random_game(seed) for seed in range(20)))
    build_corpus([folder / "games.tsv"], folder / "corpus")
    return folder / "corpus"


def test_exported_weights_are_read_back(new_worker: NewWorker) -> None:
    """Terms that the file lacks start at zero, whatever the trainer had before. Weights are integers in play then, so
    only the value is rounded. A pair and its inverse must not differ.
    """
    trainer = noisy(MODELS["KPPT"])
    folded = export(trainer)
    load_model(trainer, folded)
    assert same(export(trainer), folded) and folded.kpp.any()
    assert not trainer.parameters("relative_pp")[:, 0].any() and not trainer.parameters("relative")[:, 0].any()
    positions = walked_positions(2000)
    floats = trainer.values(np.array([position for _, position in positions])) * LOGIT
    check_agreement(new_worker(weights_of(folded)), positions, floats, 2)
    folded.pp[np.flatnonzero(folded.pp)[0]] += 2
    with pytest.raises(WeightsError, match="its inverse have different weights"):
        load_model(trainer, folded)


@pytest.mark.slow  # a file of few weights: tests/eval/test_weights.py
def test_saved_weights_are_read_back(tmp_path: Path, package: Folded) -> None:
    path = tmp_path / "again.kpp"
    few = replace(package, kpp=np.zeros_like(package.kpp))  # compressing all of them takes half a minute
    save_weights(path, few, {})
    assert same(read_folded(str(path)), few)


def test_a_smaller_model_or_no_file_is_rejected(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", str(corpus), "--out", str(corpus / "my.kpp"), "--warm-start"]
    assert main([*command, KPP, "--network", "PP"]) == 2
    assert "not only piece, tempo" in capsys.readouterr().err
    assert main([*command, "nowhere.kpp"]) == 2
    assert "'nowhere.kpp'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_warm_start_moves_weights_little(corpus: Path, tmp_path: Path, package: Folded) -> None:
    """An interrupted run resumes from its checkpoint, not from the file."""
    plan = warm_start_plan(Plan(epochs=2), KPP)
    training = Training(corpus, tmp_path, plan)
    training.run()
    before, after = words_of(package), words_of(export(training.trainer))
    moved = {name: np.abs(after[name].astype(int) - words).max() for name, words in before.items()}
    assert 0 < moved["kp"] < 64 and moved["kpp"] <= 4  # of 32 and of 4 in a centipawn
    sums = sums_of(training.trainer)
    del training  # two at once would take twice the memory
    resumed = Training(corpus, tmp_path, plan)
    resumed.resume()
    assert sums_of(resumed.trainer) == sums
