"""HalfKP: rows as sums of parts, sparse steps, a run from corpus to nn.bin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from core_ext.learn.nnue.model import GRADIENT, STEP, VALUES, NetworkTrainer
from core_ext.network_training import half_kp_shared_rows
from tests.learn.nnue import reference
from tests.learn.nnue.test_model import FORMS, Positions, run
from usi_engine.evaluation.network_file import Architecture, read_network
from usi_engine.learn.command import main
from usi_engine.learn.nnue.half_kp import set_rows
from usi_engine.learn.nnue.train import HALF_KP, NetworkPlan, initialise, rounded_network

RATE, DECAY = 5e-4, 200.0  # slow steps kill no unit; the decay is visible after a few of them
KINGS, NUMBERS = 81, 1548
PAIRS = half_kp_shared_rows().reshape(-1, 2)  # of each feature


def make_trainer(threads: int = 1, portable: bool = False, width: int = 128) -> NetworkTrainer:
    """Return a small network with random dense weights; own parts are zero."""
    trainer = NetworkTrainer(width, 8, 24, 256, threads, portable, HALF_KP, fv_scale=16)
    initialise(trainer, NetworkPlan(features=HALF_KP, width=width, hidden1=8, hidden2=24, seed=7))
    blocks, random = trainer.blocks(trainer.weights), np.random.default_rng(8)
    blocks["transformer"][:, :-1] += random.normal(0, 4, blocks["transformer"][:, :-1].shape)
    blocks["weights3"][:24, 0] = random.normal(0, 30, 24)
    trainer.refresh(rounded=False)
    return trainer


def learn(trainer: NetworkTrainer, positions: Positions, steps: int = 5, first: int = 1) -> None:
    """Train on batches that share few rows."""
    for number in range(first, first + steps):
        trainer.set_step(number, RATE, DECAY)
        run(trainer, STEP, positions[150 * number : 150 * number + 61], seed=number)


def learn_much(trainer: NetworkTrainer, positions: Positions) -> None:
    """Train, then enlarge the own parts; the decay of some is still due."""
    learn(trainer, positions)
    own(trainer)[:] *= 100


def own(trainer: NetworkTrainer, which: int = 0) -> npt.NDArray[np.float32]:
    """Return the own parts or their Adam moments: [tile][feature][64]."""
    assert trainer.own_parts is not None
    return trainer.own_parts.rows[:, :, which]


def definition(trainer: NetworkTrainer, used: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.float64]]:
    """Return the weights, with the transformer as one row for each feature used and the biases."""
    assert trainer.own_parts is not None
    blocks = trainer.blocks(trainer.weights.astype(np.float64))
    shared = blocks["transformer"]
    keep = np.exp(trainer.own_parts.decayed[used] - trainer.own_parts.decay)
    rows = own(trainer)[:, used].astype(np.float64) * keep[:, np.newaxis]
    for places in PAIRS[used].T:
        rows[:, places >= 0] += shared[:, places[places >= 0]]
    return blocks | {"transformer": np.concatenate([rows, shared[:, -1:]], axis=1)}


def compact_views(positions: Positions) -> tuple[npt.NDArray[np.int64], reference.Views]:
    """Return the features used, ascending, and the views as indices of these."""
    views = reference.half_kp_views(positions)
    used = np.unique(np.concatenate([view for both in views for view in both]))
    return used, [
        (np.searchsorted(used, ours).tolist(), np.searchsorted(used, theirs).tolist()) for ours, theirs in views
    ]


# ---- forward ----


def test_shared_rows_are_those_of_number_and_offset() -> None:
    found = half_kp_shared_rows()
    for king in (0, 13, 40, 44, 80):
        expected = [reference.shared_rows(king, number) for number in range(NUMBERS)]
        assert [[row for row in pair if row >= 0] for pair in found[king].tolist()] == expected
    trainer = NetworkTrainer(128, 8, 8, 1, features=HALF_KP, fv_scale=16)
    assert found.max() < trainer.blocks(trainer.weights)["transformer"].shape[1]


@FORMS
def test_values_are_those_of_the_definition(positions: Positions, portable: bool) -> None:
    trainer, chosen = make_trainer(portable=portable), positions[100:300]
    learn_much(trainer, positions)
    run(trainer, VALUES, chosen)
    used, views = compact_views(chosen)
    expected = reference.float_outputs(definition(trainer, used), views)
    assert expected.std() > 100
    assert np.allclose(trainer.outputs(), expected, rtol=1e-4, atol=0.5)


@FORMS
@pytest.mark.parametrize("width", [128, pytest.param(192, marks=pytest.mark.slow)])
def test_rounded_values_are_those_of_the_file(positions: Positions, portable: bool, width: int) -> None:
    """The sum of the parts is rounded; values are equal to the last bit."""
    trainer, chosen = make_trainer(portable=portable, width=width), positions[100:250]
    learn_much(trainer, positions)
    trainer.refresh(rounded=True)
    run(trainer, VALUES, chosen)
    network, views = rounded_network(trainer), reference.half_kp_views(chosen)
    expected = reference.integer_outputs(network, views)
    assert len(set(expected)) > 100
    assert trainer.outputs().tolist() == expected.tolist()


def test_weights_stay_in_the_range_of_the_file(positions: Positions) -> None:
    trainer = make_trainer()
    own(trainer)[:] = 40000
    rows = rounded_network(trainer).ft_weight
    assert rows.min() == rows.max() == 32767


# ---- gradient ----


@FORMS
@pytest.mark.parametrize("part", ["own", "shared", "weights1"])
def test_gradient_is_that_of_finite_differences(positions: Positions, part: str, portable: bool) -> None:
    trainer, chosen = make_trainer(portable=portable), positions[100:165]
    learn_much(trainer, positions)
    run(trainer, GRADIENT, chosen)
    (used, views), goal = compact_views(chosen), reference.targets(chosen, 600, 0)
    assert trainer.own_parts is not None
    gradients = trainer.blocks(trainer.gradient) | {"own": trainer.own_parts.gradient[:, used]}
    found = gradients["transformer" if part == "shared" else part]
    blocks, flat = definition(trainer, used), abs(found).reshape(-1)
    for place in {*np.argsort(-flat)[:6], *np.random.default_rng(1).choice(np.flatnonzero(flat), 6)}:
        index = np.unravel_index(place, found.shape)
        changed = blocks[part if part in blocks else "transformer"]
        places = (index[0], rows_with(int(index[1]), used), index[2]) if part == "shared" else index
        sides = []
        for step in (0.01, -0.02):
            changed[places] += step
            sides.append(reference.loss(reference.float_outputs(blocks, views), goal, 600))
        changed[places] += 0.01
        assert (sides[0] - sides[1]) / 0.02 == pytest.approx(found[index], rel=2e-3, abs=2e-4 * float(flat.max()))
    assert flat.max() > 0


def rows_with(shared: int, used: npt.NDArray[np.int64]) -> list[int]:
    """Return the used features whose row contains a shared row, or the biases."""
    if shared == reference.SHARED_ROWS:
        return [-1]
    return [int(feature) for feature in np.flatnonzero((PAIRS[used] == shared).any(axis=1))]


# ---- steps ----


def test_parts_keep_a_clock_of_their_own(positions: Positions) -> None:
    """Adam counts the steps of each part; a part's next use applies only the decay of the steps between."""
    trainer = make_trainer()
    assert trainer.own_parts is not None
    found = own(trainer)[..., :3]  # three units of each tile are enough
    weights, first, second = np.zeros((3, *found.shape))
    steps, late = np.zeros(KINGS * NUMBERS, int), np.ones(KINGS * NUMBERS)
    for number in range(1, 8):
        chosen = positions[90 * number : 90 * number + 31]
        run(trainer, GRADIENT, chosen)
        used = np.unique(np.concatenate([view for both in reference.half_kp_views(chosen) for view in both]))
        slope = trainer.own_parts.gradient[:, used, :3].astype(np.float64) * 127
        trainer.set_step(number, RATE, DECAY)
        run(trainer, STEP, chosen)
        steps[used] += 1
        first[:, used] = 0.9 * first[:, used] + 0.1 * slope
        second[:, used] = 0.999 * second[:, used] + 0.001 * slope**2
        clock = steps[used, np.newaxis]
        move = first[:, used] / (1 - 0.9**clock) / (np.sqrt(second[:, used] / (1 - 0.999**clock)) + 1e-8)
        move /= np.sqrt(clock)
        late *= 1 - RATE * DECAY
        weights[:, used] = weights[:, used] * late[used, np.newaxis] - 127 * RATE * move
        late[used] = 1
        assert np.allclose(found, weights, rtol=1e-4, atol=1e-4)
    assert trainer.own_parts.steps.tolist() == steps.tolist()
    assert steps.max() > 1 and (steps == 1).any() and (steps == 0).mean() > 0.9


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("threads", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_threads_do_not_change_a_byte(positions: Positions, threads: int, rounded: bool) -> None:
    trainers = [make_trainer(count, width=192) for count in (1, threads)]
    for trainer in trainers:
        trainer.refresh(rounded)
        learn(trainer, positions)
    expected, found = (trainer.state() for trainer in trainers)
    assert expected.keys() == found.keys() > {"weights", "first", "second"}
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name


def test_a_restored_state_trains_alike(positions: Positions) -> None:
    trainer, other = make_trainer(), make_trainer()
    learn(trainer, positions)
    other.set_state(trainer.state())
    other.refresh(rounded=False)
    for one in (trainer, other):
        learn(one, positions, first=6)
    assert all(np.array_equal(array, other.state()[name]) for name, array in trainer.state().items())


@pytest.mark.slow
def test_rows_of_a_file_come_back(positions: Positions) -> None:
    trainer, other = make_trainer(), make_trainer()
    learn(trainer, positions)
    rows = rounded_network(trainer).ft_weight
    set_rows(other, rows)
    assert np.array_equal(rounded_network(other).ft_weight, rows)
    assert np.abs(own(other)).mean() < 0.5 * np.abs(rows).mean()  # most of it is shared


def test_unknown_features_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'KPP': one of K\+P, HalfKP"):
        NetworkTrainer(128, 8, 8, 16, features="KPP", fv_scale=16)
    with pytest.raises(ValueError, match=r"no rows of a king on 0 with K\+P"):
        NetworkTrainer(128, 8, 8, 16, fv_scale=16).rows_of_king(0)


# ---- runs ----


@pytest.mark.slow
def test_one_command_makes_a_network(corpus: Path, tmp_path: Path) -> None:
    words = ["train", str(corpus), "--out", str(tmp_path / "my.bin"), "--model", "nnue", "--network", "128x2-8-8"]
    assert main([*words, "--features", "HalfKP", "--epochs", "1"]) == 0
    assert read_network(tmp_path / "my.bin").architecture == Architecture("HalfKP", 128, 8, 8)
