"""KPP weights: training runs, weights in play against the float model, warm starts."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.engine import Worker
from core_ext.training import LOGIT, king_zones
from tests.conftest import NewWorker
from tests.learn.helpers import RATES, build_corpus, noisy, random_game, sums_of, walked_positions, weights_of
from usi_engine.evaluation.kpp_file import Folded, read_folded
from usi_engine.evaluation.names import KPP, WeightsError
from usi_engine.learn import kpp
from usi_engine.learn.corpus.chances import Positions
from usi_engine.learn.kpp import MODELS, KppTraining, export, load_model, sort_by_zones
from usi_engine.learn.settings import TrainKpp


@pytest.fixture(scope="module")
def package() -> Folded:
    """The weights that come with the program."""
    return read_folded(KPP)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of random games."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "games.tsv").write_text("".join(random_game(seed) for seed in range(40)))
    build_corpus([folder / "games.tsv"], folder / "corpus", every=5)
    return folder / "corpus"


# ---- training ----


def training(corpus: Path, folder: Path, **settings: Any) -> KppTraining:
    return KppTraining(TrainKpp(corpus=corpus, out=folder / "my.kpp", **settings))


@pytest.mark.parametrize("model", ["PP", pytest.param("KPPT", marks=pytest.mark.slow)])
def test_two_threads_give_the_same_bytes_as_one(corpus: Path, tmp_path: Path, model: str) -> None:
    made = []
    for threads in (1, 2):
        run = training(corpus, tmp_path / str(threads), network=model, epochs=1, threads=threads)
        run.run()
        made.append(sums_of(run.trainer))
        del run  # KPPT takes a gigabyte
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


def interrupt() -> float:
    raise KeyboardInterrupt


def test_an_interrupted_run_resumes_bit_for_bit(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = training(corpus, tmp_path / "whole", network="PP", epochs=2)
    whole.run()
    broken = training(corpus, tmp_path / "broken", network="PP", epochs=2)
    learn, count = broken.learn, broken.file.count
    monkeypatch.setattr(broken, "learn", lambda given: interrupt() if broken.done >= count else learn(given))
    with pytest.raises(KeyboardInterrupt):
        broken.run()
    resumed = training(corpus, tmp_path / "broken", network="PP", epochs=2)
    resumed.run()
    assert resumed.curve == whole.curve
    assert [point["epoch"] for point in whole.curve] == [1.0, 2.0]
    for name in whole.trainer.terms:
        assert resumed.trainer.parameters(name).tobytes() == whole.trainer.parameters(name).tobytes()


def test_learning_rates_decay_by_epoch_and_within_the_last(corpus: Path, tmp_path: Path) -> None:
    rates = {"rates": (1.0,) * len(RATES), "rate_decay": 0.5, "last_decay": 0.1}
    run = training(corpus, tmp_path, network="P", epochs=2, **rates)
    assert run.rates() == [1.0] * len(RATES)
    run.done = run.file.count
    assert run.rates() == [0.5] * len(RATES)
    run.done += run.file.count // 2
    assert run.rate() == pytest.approx(0.5 * 0.55, rel=1e-3)


# ---- weights of play ----


def check_agreement(worker: Worker, positions: list[tuple[str, Any]], floats: Iterable[float], tolerance: int) -> None:
    """Compare the values in play with the float model's, which are Black's, within `tolerance` centipawns."""
    for (sfen, position), value in zip(positions, floats, strict=True):
        value_in_play = worker.evaluate(Board(sfen))[-1][1]
        assert abs(value_in_play - (value if position["side"] == 0 else -value)) < tolerance, sfen


def test_relative_pairs_are_coalesced(new_worker: NewWorker) -> None:
    """Each pair is rounded to 1/32 centipawn twice, and to 4/32 for the tempo."""
    terms = ["piece", "pp", "pp_tempo", "relative_pp", "relative_pp_tempo"]
    trainer = noisy(terms)
    for name in terms:
        trainer.parameters(name)[:, 0] *= 0.2
    positions = walked_positions(1000, seed=4)
    floats = trainer.values(np.array([position for _, position in positions])) * LOGIT
    check_agreement(new_worker(weights_of(export(trainer))), positions, floats, 6)


def words_of(folded: Folded) -> dict[str, np.ndarray]:
    """Return all arrays of the file, flat."""
    return {name: np.ravel(words) for name, words in vars(folded).items()}


def same(some: Folded, others: Folded) -> bool:
    others_words = words_of(others)
    return all(np.array_equal(words, others_words[name]) for name, words in words_of(some).items())


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


@pytest.mark.slow
def test_a_warm_start_moves_weights_little(corpus: Path, tmp_path: Path, package: Folded) -> None:
    """An interrupted run resumes from its checkpoint, not from the file."""
    run = training(corpus, tmp_path, warm_start=KPP, epochs=2)
    run.run()
    before, after = words_of(package), words_of(export(run.trainer))
    moved = {name: np.abs(after[name].astype(int) - words).max() for name, words in before.items()}
    assert 0 < moved["kp"] < 96 and moved["kpp"] <= 6  # of 32 and of 4 in a centipawn
    sums = sums_of(run.trainer)
    del run  # two at once would take twice the memory
    resumed = training(corpus, tmp_path, warm_start=KPP, epochs=2)
    resumed.resume()
    assert sums_of(resumed.trainer) == sums
