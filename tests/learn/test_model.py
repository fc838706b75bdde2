"""The float model: gradients, targets, two threads, symmetry."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from core_ext.corpus import NO_RESULT, NO_SCORE, RESULT_UNIT, TRAINING_POSITION
from core_ext.training import LOGIT, Rendezvous, Trainer
from tests.learn.helpers import RATES, SMALL, noisy, position_of, walked_positions
from tests.positions import flipped, mirrored
from usi_engine.learn.corpus.chances import Positions, agreement
from usi_engine.learn.kpp import MODELS


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


def test_the_same_seed_gives_the_same_bytes(positions: Positions) -> None:
    made = []
    for _ in range(2):
        trainer = Trainer(SMALL)
        trainer.learn(positions, RATES)
        trainer.learn(positions, RATES)
        made.append([trainer.parameters(name).tobytes() for name in SMALL])
    assert made[0] == made[1]


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
