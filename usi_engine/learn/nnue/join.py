"""Networks joined side by side in one, whose value is their mean (docs/findings.md).

The first layers are concatenated, the hidden layers become blocks with zeros between them, which play skips, and the
output weights are divided by the number of networks; only this division rounds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from usi_engine.evaluation.network_file import (
    PADDED,
    Architecture,
    NetworkFile,
    check_sizes,
    read_network,
    write_network,
)
from usi_engine.learn.files import atomic_write
from usi_engine.learn.nnue.network_card import CARD_SUFFIX, TEMPO_KEY, tempo_left_out
from usi_engine.learn.nnue.train import network_path
from usi_engine.records.files import write_text
from usi_engine.usi.options import FV_SCALE

Array = npt.NDArray[Any]


def joined(networks: Sequence[NetworkFile]) -> NetworkFile:
    """Join the networks. ValueError if their features differ or play would refuse the size."""
    sizes = [network.architecture for network in networks]
    if len({one.features for one in sizes}) > 1:
        raise ValueError("networks of different features cannot be joined")
    widths, first, second = zip(*((one.width, one.hidden1, one.hidden2) for one in sizes), strict=True)
    architecture = Architecture(sizes[0].features, sum(widths), sum(first), sum(second))
    check_sizes(architecture)
    layers = [
        _hidden(networks, 0, [(2, width) for width in widths]),
        _hidden(networks, 1, [(units,) for units in first]),
        _output(networks, second),
    ]
    bias = np.concatenate([np.asarray(network.ft_bias) for network in networks])
    weight = np.concatenate([np.asarray(network.ft_weight) for network in networks], axis=1)
    return NetworkFile(architecture, "", bias, weight, layers)


def _hidden(networks: Sequence[NetworkFile], layer: int, shapes: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
    """Join a hidden layer; `shapes` are those of each network's inputs, with the two sides apart in the first."""
    bias = np.concatenate([np.asarray(network.layers[layer][0]) for network in networks])
    parts = []
    for network, shape in zip(networks, shapes, strict=True):
        weight = np.asarray(network.layers[layer][1])
        parts.append(weight[:, : np.prod(shape)].reshape(len(weight), *shape))
    return bias, _padded(_diagonal(parts).reshape(len(bias), -1))


def _output(networks: Sequence[NetworkFile], units: Sequence[int]) -> tuple[Array, Array]:
    bias = np.sum([np.asarray(network.layers[2][0]) for network in networks], axis=0) / len(networks)
    weights = [np.asarray(network.layers[2][1])[:, :count] for network, count in zip(networks, units, strict=True)]
    mean = np.rint(np.concatenate(weights, axis=1) / len(networks))
    return np.rint(bias).astype(np.int32), _padded(mean.astype(np.int8))


def _diagonal(parts: Sequence[Array]) -> Array:
    """Put blocks on the diagonal of the first and the last axis."""
    rows, columns = sum(len(part) for part in parts), sum(part.shape[-1] for part in parts)
    found = np.zeros((rows, *parts[0].shape[1:-1], columns), np.int8)
    row = column = 0
    for part in parts:
        found[row : row + len(part), ..., column : column + part.shape[-1]] = part
        row, column = row + len(part), column + part.shape[-1]
    return found


def _padded(weight: Array) -> Array:
    return np.pad(weight, ((0, 0), (0, -weight.shape[1] % PADDED)))


def join(names: Sequence[str], out: Path) -> Architecture:
    """Write the mean of the named networks, and its card. ValueError, OSError, WeightsError."""
    paths = [network_path(name) for name in names]
    network = joined([read_network(path) for path in paths])
    tempo = [tempo_left_out(path) for path in paths]
    card = {
        "model": str(network.architecture),
        "fv_scale": FV_SCALE,
        "date": time.strftime("%Y-%m-%d"),
        "mean_of": [Path(name).name for name in names],
        TEMPO_KEY: round(sum(tempo) / len(tempo)),
    }
    with atomic_write(out) as part:
        write_network(part, network)
    write_text(out.with_suffix(CARD_SUFFIX), json.dumps(card, indent=1) + "\n")
    return network.architecture
