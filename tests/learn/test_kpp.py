"""KPP weights: training runs, weights in play against the float model, warm starts; gradients, targets, symmetry."""

import random
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.corpus import NO_RESULT, NO_SCORE, RESULT_UNIT, TRAINING_POSITION
from core_ext.engine import Worker
from core_ext.training import LOGIT, Rendezvous, Trainer, king_zones
from tests.conftest import NewWorker
from tests.learn.conftest import (
    RATES,
    SMALL,
    build_corpus,
    noisy,
    position_of,
    random_game,
    sums_of,
    walked_positions,
    weights_of,
)
from tests.positions import flipped, mirrored
from usi_engine.evaluation.kpp_file import Folded, read_folded
from usi_engine.evaluation.names import KPP, WeightsError
from usi_engine.learn import kpp
from usi_engine.learn.corpus.chances import Positions, agreement
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


# ---- the float model ----


def measure(trainer: Trainer, positions: Positions, result_share: float = 0.0) -> dict[str, float]:
    return agreement(trainer.values(positions) * LOGIT, positions, result_share)


def probability_and_target(trainer: Trainer, position: Positions) -> tuple[float, float]:
    p = 1 / (1 + np.exp(-trainer.values(position).astype(np.float64)[0]))
    t = 0.8 / (1 + np.exp(-position["score"][0] / 600)) + 0.2 * (position["result"][0] / RESULT_UNIT + 1) / 2
    return float(p), float(t)


def loss(trainer: Trainer, position: Positions) -> float:
    """Return the logistic loss of one position."""
    p, t = probability_and_target(trainer, position)
    return float(-(t * np.log(p) + (1 - t) * np.log(1 - p)))


def slope_of_value(trainer: Trainer, position: Positions) -> float:
    """Return the derivative of the loss by the value: the error of the win probability."""
    p, t = probability_and_target(trainer, position)
    return p - t


def check_slope(
    trainer: Trainer, position: Positions, parameters: Any, *, index: int, uses: float, moved: float, error: float
) -> None:
    """Check the slope of a weight used `uses` times: uses by Black minus uses by White, times the error."""
    kept = parameters[index, 0]
    losses = []
    for sign in (1, -1):
        parameters[index, 0] = kept + sign * 0.02
        losses.append(loss(trainer, position))
    parameters[index, 0] = kept
    slope = (losses[0] - losses[1]) / 0.04
    assert uses == pytest.approx(round(uses), rel=1e-3)
    difference = slope / error
    assert difference == pytest.approx(round(difference), abs=0.03)
    assert abs(round(difference)) <= round(uses)
    assert (round(difference) - round(uses)) % 2 == 0
    if round(uses) == 1:
        assert (moved < 0) == (slope > 0)


@pytest.mark.parametrize(("terms", "count"), [(SMALL, 3), (MODELS["KPPT"], 1)], ids=["KP+PP", "KPPT"])
def test_the_gradient_is_that_of_finite_differences(positions: Positions, terms: Sequence[str], count: int) -> None:
    """After one update the accumulator is the squared gradient, and the weight moved against it."""
    rng = random.Random(3)
    trainer = noisy(terms)
    # Values have single precision, which hides the slope if the model is nearly right.
    wrong = [
        number for number in range(100, 900) if abs(slope_of_value(trainer, positions[number : number + 1])) > 0.15
    ]
    for number in wrong[:count]:
        position = positions[number : number + 1]
        error = slope_of_value(trainer, position)
        trainer.learn(position, [0.0] * len(RATES), result_share=0.2)  # finds the weights that are used
        used = {name: np.flatnonzero(trainer.parameters(name)[:, 1]) for name in terms}
        before = {name: trainer.parameters(name)[used[name], 0] for name in terms}
        for name in terms:
            trainer.parameters(name)[used[name], 1] = 0
        trainer.learn(position, [1e-6] * len(RATES), result_share=0.2)
        for name in terms:
            parameters, touched = trainer.parameters(name), used[name]
            accumulators, moved = parameters[touched, 1], parameters[touched, 0] - before[name]
            parameters[touched, 0], parameters[touched, 1] = before[name], 0
            assert len(touched)
            for i in rng.sample(range(len(touched)), min(6, len(touched))):
                uses = accumulators[i] / error**2
                check_slope(trainer, position, parameters, index=touched[i], uses=uses, moved=moved[i], error=error)


def test_learning_lowers_the_divergence(positions: Positions) -> None:
    trainer = Trainer(SMALL)
    before = measure(trainer, positions)["divergence"]
    for _ in range(5):
        trainer.learn(positions, RATES)
    assert measure(trainer, positions)["divergence"] < 0.8 * before


def test_a_position_without_a_score_learns_from_the_result(positions: Positions) -> None:
    won = positions[:1].copy()
    won["score"], won["result"] = NO_SCORE, RESULT_UNIT
    trainer = Trainer(SMALL)
    for _ in range(20):
        trainer.learn(won, RATES)
    assert trainer.values(won)[0] > 0.1


@pytest.mark.parametrize(
    ("score", "result", "share", "learned"),
    [(300, NO_RESULT, 0.2, 300), (0, RESULT_UNIT, 0.0, 0), (0, RESULT_UNIT, 0.4, 600 * np.log(0.7 / 0.3))],
)
def test_the_result_counts_by_its_share_if_there_is_one(
    positions: Positions, score: int, result: int, share: float, learned: float
) -> None:
    """A position without a result has a tempo weight of its own."""
    one, trainer = positions[:1].copy(), Trainer(SMALL)
    one["score"], one["result"] = score, result
    trainer.learn(np.repeat(one, 5000), RATES, result_share=share)
    assert trainer.values(one)[0] * LOGIT == pytest.approx(learned, abs=3)
    assert measure(trainer, one, share)["divergence"] < 1e-4
    if result == NO_RESULT:
        assert trainer.parameters("tempo")[0, 0] == 0 != trainer.parameters("tempo")[1, 0]


def test_positions_of_one_score_have_no_correlation(positions: Positions) -> None:
    """It would be NaN, which JSON lacks."""
    level = positions[:99].copy()
    level["score"][:90], level["score"][90:] = 41, NO_SCORE
    trainer = Trainer(SMALL)
    trainer.learn(positions, RATES)
    assert set(measure(trainer, level)) == {"divergence"}
    level["score"][0] = 42
    assert set(measure(trainer, level)) == {"divergence", "correlation"}


def learn_shards(trainer: Trainer, positions: Positions, shard: int) -> None:
    """Train one shard of the trainer and the other shard of a second one, which keeps their updates apart."""
    other, rendezvous = Trainer(MODELS["KPPT"]), Rendezvous()
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(which.learn_shard, number, rendezvous, positions, RATES)
            for which, number in ((trainer, shard), (other, 1 - shard))
        ]
        for job in jobs:
            job.result()


@pytest.mark.slow
def test_two_threads_share_the_work(positions: Positions) -> None:
    """Each shard updates weights, and no weight is updated by both."""
    moved = []
    for shard in (0, 1):
        trainer = Trainer(MODELS["KPPT"])
        learn_shards(trainer, positions, shard)
        moved.append({name: np.flatnonzero(trainer.parameters(name)[:, 1]) for name in trainer.terms})
    for name in MODELS["KPPT"]:
        assert not len(np.intersect1d(moved[0][name], moved[1][name])), name
    assert min(len(moved[shard]["kpp"]) for shard in (0, 1)) > 0.4 * max(len(moved[shard]["kpp"]) for shard in (0, 1))


def test_impossible_models_are_rejected() -> None:
    with pytest.raises(ValueError, match="piece"):
        Trainer(["kpp"])
    for terms in (["piece", "pp_tempo"], ["piece", "pp", "pp_tempo", "relative_pp"]):
        with pytest.raises(ValueError, match="tempo terms for all pairs or for none"):
            Trainer(terms)
    with pytest.raises(KeyError):
        Trainer(["piece"]).parameters("kpp")
    with pytest.raises(ValueError, match="shard 2"):
        Trainer(["piece"]).learn_shard(2, Rendezvous(), np.zeros(1, TRAINING_POSITION), RATES)


def test_symmetric_positions_have_the_same_value() -> None:
    """The mirror image has the same value, the inverse the opposite one."""
    trainer = noisy(["piece", "pp", "pp_tempo", "relative_pp", "relative_pp_tempo"])
    for sfen, position in walked_positions(100, seed=6):
        value = trainer.values(np.array([position]))[0]
        assert trainer.values(position_of(mirrored(sfen)))[0] == pytest.approx(value, abs=1e-4), sfen
        assert trainer.values(position_of(flipped(sfen)))[0] == pytest.approx(-value, abs=1e-4), sfen
