"""A network in PyTorch: its values are those of play, its gradient that of autograd, on every way through it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core_ext._nnue_probe import NnueProbe
from core_ext.board import Board
from core_ext.corpus import NO_RESULT, NO_SCORE
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.load import load_network
from usi_engine.evaluation.network_file import read_network, write_network
from usi_engine.features import nnue_indices
from usi_engine.learn.corpus.chances import Positions, targets
from usi_engine.learn.nnue import model
from usi_engine.learn.nnue.export import active_order, dither, set_from_file, to_file
from usi_engine.learn.nnue.inputs import Expander, Inputs, compact
from usi_engine.learn.nnue.model import Network, RowSums, initialised
from usi_engine.learn.nnue.train import read_progress

# Each feature set, each selector, both forms, with and without the shortcut, and parts of layer 0.
NAMES = (
    "NNUE_kp_64x2_8_16", "NNUE_halfkp_64x2_32_32", "NNUE_halfkahm2_64x2_15_32", "SFNN_ka2_128_7_64_k3k3",
    "SFNN_halfkpvm_64_8_16", "SFNN_halfka1_64_8_16_hand4_k9k9", "SFNN_halfkahm1_64_15_32_hand16_k13k13z",
    "SFNN_ka2_192_7_16_c64_s64x2_k9k9z_progress8", "SFNN_halfkahm2_64_7_16_hand64_k21k21",
    "SFNN_halfka2_64_7_16_hand64z_progress3", "SFNN_kp_64_7_16_k29k29_progress32", "SFNN_ka2_64_7_16_hand256",
    "SFNN_kp_64_7_16_hand1024_progress16",
)  # fmt: skip
NOISE = {"rows": 10, "own": 10, "offsets": 10, "bias": 10, "weight0": 30, "weight1": 20, "weight2": 40}
Walked = list[tuple[str, Positions]]


def noisy(name: str, seed: int = 2) -> tuple[Network, Expander]:
    """Return a network with random weights everywhere, and its inputs."""
    architecture, random = parse_name(name), torch.Generator().manual_seed(seed)
    network, expander = initialised(architecture, "cpu", seed), Expander(architecture, "cpu")
    expander.result_share.fill_(0.3)
    with torch.no_grad():
        for parameter, value in network.parameters.items():
            value.add_(torch.randn(value.shape, generator=random) * NOISE.get(parameter, 3000))
        network.keep_in_range()
    if architecture.progress:
        weights = np.random.default_rng(seed).integers(-9000, 9000, (81, 1548), np.int32)
        weights[:, 0] = 0  # no piece
        expander.set_progress(1000, weights)
    return network, expander


def words_of(positions: Positions) -> Any:
    return torch.from_numpy(compact(positions).copy())


def inputs_of(expander: Expander, positions: Positions, mirror: int = 0) -> Inputs:
    return expander(words_of(positions), torch.full((len(positions),), mirror))


def play(path: Path, sfens: list[str]) -> list[int]:
    """Return the values of play."""
    probe = NnueProbe(load_network(path, 16))
    return [probe.evaluate(sfen) for sfen in sfens]


def mirrored(sfen: str) -> str:
    board, rest = sfen.split(maxsplit=1)
    return "/".join("".join(re.findall(r"\+?[A-Za-z]|\d", row)[::-1]) for row in board.split("/")) + " " + rest


def in_centipawns(outputs: Any) -> list[int]:
    return [max(-20000, min(20000, int(output / 16))) for output in outputs.tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_rounded_values_are_those_of_play(walked: Walked, positions: Positions, tmp_path: Path, name: str) -> None:
    """Exactly, through the file, for positions as they are and mirrored; the file sets the same weights again."""
    network, expander = noisy(name)
    inputs = inputs_of(expander, positions)
    progress = read_progress(expander) if network.architecture.progress else None
    order = active_order(network.architecture, network.sums(inputs, True))
    assert order.tolist() != sorted(order.tolist())
    write_network(tmp_path / "nn.bin", to_file(network, order, 0, progress))
    values = in_centipawns(network.values(inputs, True))
    assert len(set(values)) > 100
    assert values == play(tmp_path / "nn.bin", [sfen for sfen, _ in walked])
    found = in_centipawns(network.values(inputs_of(expander, positions, 1), True))
    assert found == play(tmp_path / "nn.bin", [mirrored(sfen) for sfen, _ in walked])
    again = initialised(network.architecture, "cpu", 9)
    set_from_file(again, read_network(tmp_path / "nn.bin"))
    assert in_centipawns(again.values(inputs, True)) == values


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_those_of_the_python_api(walked: Walked, positions: Positions, name: str) -> None:
    expander = Expander(parse_name(name), "cpu")
    expected = nnue_indices([Board(sfen) for sfen, _ in walked], expander.kind.name)
    inputs, found = inputs_of(expander, positions), torch.zeros(2, *expected[:, 0].shape, dtype=torch.int32)
    found[:, inputs.rows] = inputs.features
    assert (found.numpy().swapaxes(0, 1) == expected).all()


@pytest.mark.parametrize("name", ["NNUE_kp_64x2_8_16", "SFNN_halfkahm2_64_7_16_k3k3"])
def test_a_common_change_of_weights_from_a_file_survives_rounding(name: str) -> None:
    """A file has whole numbers, all of which round back after a change by a quarter."""
    network = noisy(name)[0]
    set_from_file(network, to_file(network, active_order(network.architecture, None), 0))
    before = {"rows": network.table().round(), "weight0": network.parameters["weight0"].round()}
    dither(network, 1)
    for part, weights in (("rows", network.table()), ("weight0", network.parameters["weight0"])):
        assert torch.equal(weights.round(), before[part])
        assert ((weights + 0.25).round() - before[part]).mean().item() == pytest.approx(0.25, abs=0.05)


def test_targets_are_those_of_kpp_training(positions: Positions) -> None:
    given = np.tile(positions, 3)
    given["score"] = np.random.default_rng(1).integers(-2000, 2000, len(given))
    given["score"][::5], given["result"] = NO_SCORE, np.arange(len(given)) % 201 - 100
    given["result"][1::5] = NO_RESULT
    expected = targets(given, 0.3)
    expander = noisy(NAMES[0])[1]
    assert np.allclose(expander.targets(words_of(given)), np.where(given["side"] == 1, 1 - expected, expected))


@pytest.mark.parametrize(("name", "kind"), [
    ("NNUE_kp_64x2_8_16", "cpu"), ("NNUE_halfkpvm_64x2_8_16", "gpu"), ("SFNN_ka2_64_7_16_k3k3", "matrix"),
    ("SFNN_halfkahm2_192_7_16_c64_s64x2_hand16", "cpu"),
])  # fmt: skip
def test_gradient_is_that_of_autograd(
    positions: Positions, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    """Autograd goes through one graph, without chunks. The loss is the divergence."""
    monkeypatch.setattr(model, "CACHED", 64 * 2 * 64)
    network, expander = noisy(name)
    network.sums_kind = kind
    monkeypatch.setattr(model, "LOGIT", 1e5)  # no winning chance is nearly 0 or 1
    inputs, scale = inputs_of(expander, positions), 1e5
    loss = network.learn(inputs, False, 77)
    found = {parameter: value.grad.clone() for parameter, value in network.parameters.items()}
    for value in network.parameters.values():
        value.grad = None
    sums = F.embedding_bag(inputs.features.flatten(0, 1), network.table(), mode="sum").unflatten(0, (2, -1))
    outputs = network.outputs(network.parameters, sums + network.parameters["bias"], inputs.stacks, False)
    win, goal = torch.sigmoid(outputs / scale), inputs.target
    each = goal * torch.log(goal / win) + (1 - goal) * torch.log((1 - goal) / (1 - win))
    expected = (each * inputs.weight).sum()
    expected.backward()
    assert float(loss) == pytest.approx(expected.item(), rel=1e-4)
    for parameter, value in network.parameters.items():
        scaled = value.grad / 77
        assert torch.allclose(found[parameter], scaled, rtol=1e-3, atol=1e-4 * float(scaled.abs().max())), parameter
        assert scaled.abs().max() > 0


@pytest.mark.parametrize("bias", [20_000.0, -20_000.0])
def test_a_unit_beyond_its_range_is_drawn_back(positions: Positions, bias: float) -> None:
    """Its square is large on either side. No gradient drives it farther away."""
    network, expander = noisy("SFNN_ka2_64_7_16_k3k3")
    inputs, values = inputs_of(expander, positions), network.parameters
    for output, sign in ((1e6, 1), (-1e6, 0)):
        with torch.no_grad():
            values["weight0"][:, 0], values["bias0"][:, 0], values["bias2"][:] = 0, bias, output
            values["weight1"].abs_(), values["weight2"].abs_()
        network.learn(inputs, True, len(positions))
        gradient = values["bias0"].grad[inputs.stacks.unique(), 0]
        assert (gradient.sign() == sign * np.sign(bias)).all()


def test_every_device_sums_rows_alike(positions: Positions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU multiplies by a matrix, or takes bags for a large table. A CPU computes in parts, here in many."""
    for name, value in {"COLUMNS": 24, "CACHED_SUMS": 50, "LONGEST_BAG": 3}.items():
        monkeypatch.setattr(model, name, value)
    network, expander = noisy("NNUE_kp_64x2_8_16")
    features = inputs_of(expander, positions).features
    table, given = network.table().detach(), torch.randn(2 * len(positions), 64)
    ways = [RowSums(features, len(table), kind, torch.empty(0)) for kind in ("cpu", "matrix", "gpu")]
    sums, gradients = [way.sums(table) for way in ways], [way.gradient(given) for way in ways]
    for found in (sums, gradients):
        assert all(torch.allclose(found[0], other, rtol=1e-4, atol=1e-3) for other in found[1:])


@pytest.mark.parametrize("fixed", [False, True])
def test_positions_are_blocks_of_their_stacks(positions: Positions, fixed: bool) -> None:
    """The number of blocks is fixed on a GPU."""
    network, expander = noisy("SFNN_ka2_128_7_64_k3k3")
    values = network.values(inputs_of(expander, positions), True)
    expander.fixed_blocks = fixed
    inputs = inputs_of(expander, positions)
    size = len(inputs.rows) // len(inputs.stacks)
    kings = positions["king"].astype(int)
    own, enemy = (kings[np.arange(len(kings)), side] % 9 // 3 for side in (positions["side"], 1 - positions["side"]))
    expected = (3 * own + enemy)[inputs.rows]
    used = inputs.weight.numpy() > 0
    assert sorted(inputs.rows.numpy()[used]) == list(range(len(positions))) and size > 1
    assert (expected[used] == np.repeat(inputs.stacks.numpy(), size)[used]).all()
    assert torch.equal(network.values(inputs, True), values)
    assert not fixed or len(inputs.stacks) == len(positions) // size + 9


def test_new_units_are_half_active() -> None:
    """Their outputs are 0, and so is the row of no piece, while other rows differ."""
    for name in ("NNUE_halfkp_64x2_32_32", "SFNN_ka2_128_15_64_k3k3"):
        network = initialised(parse_name(name), "cpu", 1)
        assert not network.parameters["weight2"].any() and not network.parameters["rows"][0].any()
        assert network.parameters["rows"][1:].std() > 1
        assert (network.parameters["bias"] == 63.5).all()
    assert torch.equal(network.parameters["weight1"][0], network.parameters["weight1"][8])
