"""Conversion between the weights of a training and nn.bin."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from core_ext.engine import BONAPIECES, SQUARES
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.names import INTERNAL, PACKAGED
from usi_engine.evaluation.network_file import NetworkFile, layer_shapes, network_path, pack_dense, read_network
from usi_engine.learn.nnue.model import LAYERS, Network, shard_of_inputs
from usi_engine.learn.settings import MOST_TEMPO
from usi_engine.usi.options import FV_SCALE

CARD_SUFFIX = ".card.json"
TEMPO_KEY = "tempo_left_out"
DITHER = 0.98  # units; a sum of parts of a row is not exact
LARGEST_ROW = 32767  # of a transformer's weights in memory; twice the file's in an SFNN


def to_file(
    network: Network, order: Tensor, tempo: int, progress: tuple[int, npt.NDArray[np.int32]] | None = None
) -> NetworkFile:
    """Return the rounded network with its units in an order, without `tempo` centipawns in its values."""
    architecture, double = network.architecture, 1 + network.architecture.sfnn
    half = len(order)
    columns = torch.cat([order, half + order]) if architecture.sfnn else order
    most = LARGEST_ROW // double
    with torch.no_grad():
        rows, bias = (
            (table.round().clamp_(-most, most)[..., columns] * double).to(torch.int16).cpu().numpy()
            for table in (network.table(), network.parameters["bias"])
        )
    inputs = torch.cat([order, half + order])
    dense = pack_dense(architecture, round_stacks(network, inputs, FV_SCALE * tempo))
    return NetworkFile(architecture, "", bias, rows, dense, progress)


def round_stacks(network: Network, inputs: Tensor, taken: int) -> list[list[tuple[Any, Any]]]:
    """Return biases and padded weights of each stack's layers, `taken` less in the output."""
    arrays = []
    for number, (_, padded) in enumerate(layer_shapes(network.architecture)):
        weight = network.parameters[f"weight{number}"].detach().round()
        if number == 0:
            weight = (weight if network.mask is None else weight * network.mask)[..., inputs]
        bias = network.parameters[f"bias{number}"].detach().round() - taken * (number == LAYERS - 1)
        weight = F.pad(weight, (0, padded - weight.shape[2])).to(torch.int8)
        arrays.append((bias.to(torch.int32).cpu().numpy(), weight.cpu().numpy()))
    return [[(bias[stack], weight[stack]) for bias, weight in arrays] for stack in range(network.architecture.stacks)]


def active_order(architecture: Architecture, sums: Tensor | None) -> Tensor:
    """Return the order of units, most active first, in which play finds more groups of inputs that are all 0.

    `sums` are those of the transformer, biases included: [2][n][width]; None: keep the order. Units of an SFNN are
    pairs. A unit stays in its parts of a divided layer 0. Moving units changes no value.
    It helps only a layer 0 of more than eight outputs: with eight, play multiplies all inputs.
    """
    count = architecture.inputs // 2
    if sums is None:
        return torch.arange(count)
    active = sums > 0
    if architecture.sfnn:
        first, second = active.chunk(2, 2)
        active = first & second
    order = torch.sort(active.float().mean((0, 1)), descending=True, stable=True)[1]
    if architecture.shards > 1:
        part = shard_of_inputs(architecture).to(order.device)
        for key in (part[count:], part[:count]):
            order = order[torch.sort(key[order], stable=True)[1]]
    return order


def set_from_file(network: Network, file: NetworkFile) -> None:
    """Set the weights to those of a file of the same architecture. ValueError if it is of another."""
    architecture, values = network.architecture, network.parameters
    if file.architecture != architecture:
        raise ValueError(f"cannot start from a network {file.architecture.name}: {architecture.name} expected")
    scale = 1 / (1 + architecture.sfnn)
    rows = torch.from_numpy(np.asarray(file.weight).astype(np.float32) * scale)
    fields = []
    for number, (outputs, inputs) in enumerate(layer_shapes(architecture)):
        fields += [(f"bias{number}", "<i4", (outputs,)), (f"weight{number}", "i1", (outputs, inputs))]
    dense = np.frombuffer(file.dense, np.dtype([("hash", "<u4"), *fields]))
    with torch.no_grad():
        if network.offsets is not None:
            rows = rows.unflatten(0, (network.kind.buckets, -1))
            values["offsets"].zero_()
            values["rows"].copy_(rows.mean(0))
            values["own"].copy_(rows - rows.mean(0))
        else:
            values["rows"].copy_(rows)
        values["bias"].copy_(torch.from_numpy(np.asarray(file.bias).astype(np.float32) * scale))
        for name, *_ in fields:
            given = torch.from_numpy(dense[name].astype(np.float32))
            values[name].copy_(given[..., : values[name].shape[-1]])


def dither(network: Network, seed: int) -> None:
    """Move each weight at random by less than half a unit; rounding undoes it.

    Weights from a file are whole numbers: if many of them change alike, rounding hides it until all cross a half.
    """
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in network.parameters.items():
            if network.offsets is None or name not in ("rows", "offsets"):  # which are rounded with the own rows
                value.add_(((torch.rand(value.shape, generator=random) - 0.5) * DITHER).to(network.device))
        network.keep_in_range()


def tempo_left_out(network: str | Path) -> int:
    """Return the centipawns of tempo that a network (file or folder) leaves out of its values; 0 without a card.

    OSError; ValueError if the card is damaged.
    """
    card = network_path(Path(network).expanduser()).with_suffix(CARD_SUFFIX)
    if not card.exists():
        return 0
    try:
        found = json.loads(card.read_text(encoding="utf-8")).get(TEMPO_KEY, 0)  # other programs' cards lack it
    except (ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{card} is damaged: {type(error).__name__} {error}") from None
    if type(found) is not int or not 0 <= found <= MOST_TEMPO:
        raise ValueError(f"{card}: its tempo is {str(found)[:80]}, not 0 to {MOST_TEMPO}")
    return found


def warm_start(network: Network, name: str, seed: int) -> tuple[int, npt.NDArray[np.int32]]:
    """Set the weights to those of a network that is named as in EvalFile, with the tempo that its card left out.

    Return its weights of progress, zeros if it has none. ValueError, OSError, WeightsError.
    """
    path: str | Path = PACKAGED[INTERNAL] if name == INTERNAL else name
    file = read_network(path)
    set_from_file(network, file)
    with torch.no_grad():
        network.parameters["bias2"] += FV_SCALE * tempo_left_out(path)
    dither(network, seed)
    if file.progress is None:
        return 0, np.zeros((SQUARES, BONAPIECES), np.int32)
    return file.progress[0], np.array(file.progress[1], np.int32)
