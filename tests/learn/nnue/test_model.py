"""The model against its definition: targets, values, gradients and steps, by each form of the kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from core_ext.corpus import NO_RESULT, NO_SCORE, TRAINING_POSITION, GameReader
from core_ext.learn.nnue.model import GRADIENT, STEP, VALUES, NetworkTrainer
from tests.learn.nnue import reference
from usi_engine.learn.corpus.sources import parse_game_line
from usi_engine.learn.game import START, ScoredGame
from usi_engine.learn.nnue.train import NetworkPlan, initialise, rounded_network

Positions = npt.NDArray[Any]
BLOCKS = ["transformer", "weights1", "biases1", "weights2", "biases2", "weights3", "biases3"]
FORMS = pytest.mark.parametrize("portable", [False, True], ids=["native", "portable"])
MIRRORED_START = START.replace("1r5b1", "1b5r1").replace("1B5R1", "1R5B1")


def make_trainer(batch: int = 256, threads: int = 1, portable: bool = False, width: int = 128) -> NetworkTrainer:
    """Return a small network with random weights and some clipped units."""
    trainer = NetworkTrainer(width, 8, 24, batch, threads, portable, fv_scale=16)
    initialise(trainer, NetworkPlan(width=width, hidden1=8, hidden2=24, seed=7))
    blocks, random = trainer.blocks(trainer.weights), np.random.default_rng(8)
    blocks["transformer"][:, :-1] *= 4
    blocks["weights3"][:24, 0] = random.normal(0, 30, 24)
    blocks["biases3"][0] = 1000
    trainer.refresh(rounded=False)
    return trainer


def run(trainer: NetworkTrainer, phases: tuple[int, ...], positions: Positions, **how: float) -> None:
    trainer.begin(positions, how.get("score_scale", 600), how.get("result_share", 0), int(how.get("seed", 0)))
    for phase in phases:
        with ThreadPoolExecutor(trainer.threads) as pool:
            list(pool.map(trainer.work, [phase] * trainer.threads, range(trainer.threads)))


def doubles(trainer: NetworkTrainer) -> dict[str, npt.NDArray[np.float64]]:
    return trainer.blocks(trainer.weights.astype(np.float64))


# ---- forward ----


@FORMS
def test_values_are_those_of_the_definition(positions: Positions, portable: bool) -> None:
    trainer, chosen = make_trainer(portable=portable), positions[:203]
    run(trainer, VALUES, chosen)
    expected = reference.float_outputs(doubles(trainer), reference.views(chosen))
    assert expected.std() > 100
    assert np.allclose(trainer.outputs(), expected, rtol=1e-4, atol=0.5)


@FORMS
@pytest.mark.parametrize("width", [128, 320])
def test_rounded_values_are_those_of_the_file(
    positions: Positions, portable: bool, width: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The values are equal to the last bit."""
    trainer, chosen = make_trainer(portable=portable, width=width), positions[:150]
    trainer.refresh(rounded=True)
    run(trainer, VALUES, chosen)
    expected = reference.integer_outputs(rounded_network(trainer), reference.views(chosen))
    assert len(set(expected)) > 100
    assert trainer.outputs().tolist() == expected.tolist()


def mirror_move(move: str) -> str:
    def place(square: str) -> str:
        return square if square[1] == "*" else str(10 - int(square[0])) + square[1]

    return place(move[:2]) + place(move[2:4]) + move[4:]


def test_half_of_the_positions_are_mirrored(games: Any) -> None:
    """With a seed each value is that of the position or of its mirror image; the same seed draws the same."""
    both = np.zeros((2, 256), TRAINING_POSITION)
    game = parse_game_line(games.read_text().splitlines()[0])
    image = ScoredGame(MIRRORED_START, [mirror_move(move) for move in game.moves], game.scores, game.result)
    count = {
        GameReader().read_game(one.start, one.moves, one.scores, 1, 1, both[i]) for i, one in enumerate((game, image))
    }
    used, trainer = count.pop(), make_trainer()
    values = []
    for chosen, seed in ((both[0], 0), (both[1], 0), (both[0], 5), (both[0], 5), (both[0], 6)):
        run(trainer, VALUES, chosen[:used], seed=seed)
        values.append(trainer.outputs())
    own, mirrored, drawn, again, other = values
    assert not count and used > 30
    is_own = np.isclose(drawn, own, rtol=1e-4)  # the pieces of an image are listed, and so summed, in another order
    assert np.allclose(np.where(is_own, own, mirrored), drawn, rtol=1e-4)
    assert 0.2 < is_own.mean() < 0.8
    assert np.array_equal(drawn, again) and not np.array_equal(drawn, other)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_targets_mix_score_and_result(positions: Positions, share: float) -> None:
    chosen = positions[:100].copy()
    chosen["score"][:10], chosen["result"][10:20] = NO_SCORE, NO_RESULT
    chosen["result"][:10] = np.arange(10) % 2 * 0.5  # some 0: draws
    trainer = make_trainer()
    run(trainer, GRADIENT, chosen, score_scale=400, result_share=share)
    outputs = reference.float_outputs(doubles(trainer), reference.views(chosen))
    goal = reference.targets(chosen, 400, share)
    assert trainer.loss == pytest.approx(reference.loss(outputs, goal, 400), rel=1e-4)


# ---- gradient ----


@FORMS
@pytest.mark.parametrize("block", BLOCKS)
def test_gradient_is_that_of_finite_differences(positions: Positions, block: str, portable: bool) -> None:
    """Places with the largest slopes and random ones are compared in float64."""
    trainer, chosen = make_trainer(portable=portable), positions[100:165]
    run(trainer, GRADIENT, chosen, result_share=0.25)
    found = trainer.blocks(trainer.gradient)[block].reshape(-1)
    views, goal = reference.views(chosen), reference.targets(chosen, 600, 0.25)
    places = {*np.argsort(-abs(found))[:6], *np.random.default_rng(1).integers(0, len(found), 6)}
    for place in places:
        sides = []
        for step in (0.01, -0.01):
            blocks = doubles(trainer)
            blocks[block].reshape(-1)[place] += step
            sides.append(reference.loss(reference.float_outputs(blocks, views), goal, 600))
        assert (sides[0] - sides[1]) / 0.02 == pytest.approx(found[place], rel=2e-3, abs=2e-4 * float(abs(found).max()))
    assert abs(found).max() > 0


def test_padding_stays_zero(positions: Positions) -> None:
    """Padding units only fill a vector."""
    trainer = make_trainer()
    for number in range(1, 4):
        trainer.set_step(number, 4e-3, 0.3)
        run(trainer, STEP, positions[:256])
    blocks = trainer.blocks(trainer.weights)
    assert not blocks["weights1"][:, 8:].any() and not blocks["biases1"][8:].any()
    assert not blocks["weights2"][8:].any() and not blocks["weights2"][:, 24:].any()
    assert not blocks["weights3"][24:].any() and not blocks["weights3"][:, 1:].any()
    assert blocks["weights3"][:24, 0].all() and blocks["weights1"][:, :8].any()


# ---- steps ----


def adam(before: dict[str, Any], gradient: Any, number: int, unit: float, rate: float) -> Any:
    """Return the weights after a step; `unit`: integers of the file for 1.0 in the float model."""
    slope = gradient.astype(np.float64) * unit
    before["m"] = 0.9 * before["m"] + 0.1 * slope
    before["v"] = 0.999 * before["v"] + 0.001 * slope**2
    root = np.sqrt(before["v"] / (1 - 0.999**number)) + 1e-8
    return before["w"] - unit * rate * before["m"] / (1 - 0.9**number) / root


@FORMS
@pytest.mark.parametrize("block", BLOCKS)
def test_steps_are_adam_s(positions: Positions, block: str, portable: bool) -> None:
    trainer = make_trainer(portable=portable)
    units = {"transformer": 127, "weights1": 64, "weights2": 64, "weights3": 9600 / 127, "biases3": 9600}
    unit, zeros = units.get(block, 8128), np.zeros(trainer.blocks(trainer.weights)[block].shape)
    state: dict[str, Any] = {"m": zeros, "v": zeros}
    for number in range(1, 4):
        state["w"] = trainer.blocks(trainer.weights)[block].astype(np.float64)
        trainer.set_step(number, 2e-3, 0.3)
        run(trainer, STEP, positions[256 * number : 256 * (number + 1)])
        expected = adam(state, trainer.blocks(trainer.gradient)[block], number, unit, 2e-3)
        if block == "transformer":
            expected[:, :-1] -= 2e-3 * 0.3 * state["w"][:, :-1]  # all but the biases decay
        assert np.allclose(trainer.blocks(trainer.weights)[block], expected, rtol=1e-5, atol=1e-5 * unit)


def test_weights_stay_in_the_range_of_the_file(positions: Positions) -> None:
    trainer = make_trainer()
    for number in range(1, 30):
        trainer.set_step(number, 0.5, 0)
        run(trainer, STEP, positions[:256])
    blocks = trainer.blocks(trainer.weights)
    for name in ("weights1", "weights2", "weights3"):
        assert abs(blocks[name]).max() <= 127
    assert abs(blocks["weights1"]).max() == 127


def flat_after(positions: Positions, steps: int = 6, rounded: bool = False, **how: Any) -> npt.NDArray[np.float32]:
    trainer = make_trainer(**how)
    trainer.refresh(rounded)
    for number in range(1, steps + 1):
        trainer.set_step(number, 4e-3, 0.3)
        run(trainer, STEP, positions[100 * number : 100 * number + 211], seed=number)
    return trainer.weights


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("threads", [2, 8])
def test_threads_do_not_change_a_byte(positions: Positions, threads: int, rounded: bool) -> None:
    expected = flat_after(positions, rounded=rounded, width=320)
    assert np.array_equal(flat_after(positions, rounded=rounded, width=320, threads=threads), expected)


# ---- refusals ----


@pytest.mark.parametrize(("width", "hidden1", "threads"), [(100, 32, 1), (2048, 32, 1), (256, 0, 1), (256, 32, 9)])
def test_unsupported_sizes_are_refused(width: int, hidden1: int, threads: int) -> None:
    with pytest.raises(ValueError, match=f"{width}x2|{threads} threads"):
        NetworkTrainer(width, hidden1, 32, 16, threads, fv_scale=16)


def test_batches_must_fit(positions: Positions) -> None:
    trainer = make_trainer(batch=16)
    with pytest.raises(ValueError, match="17"):
        trainer.begin(positions[:17])
    with pytest.raises(ValueError, match="0 positions"):
        trainer.begin(positions[:0])
    with pytest.raises(ValueError, match="thread 1"):
        trainer.work(STEP[0], 1)
