"""Order of the first layer's units by activity, so that play finds more groups of inputs that are all 0.

Moving a unit together with its weights changes no value. Play skips groups of four units if none of them is active
(core_ext/eval/nnue/layers.h).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from usi_engine.evaluation.network_file import NetworkFile


def activity(sums: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the share of positions and sides in which each unit is above 0, from sums [positions][2 * width]."""
    shares: npt.NDArray[np.float64] = (sums.reshape(len(sums), 2, -1) > 0).mean(axis=(0, 1))
    return shares


def in_order(network: NetworkFile, shares: npt.NDArray[np.float64]) -> NetworkFile:
    """Return the network with the most active units first; units of equal shares keep their order."""
    width = network.architecture.width
    order = np.argsort(-shares, kind="stable")
    rows = np.asarray(network.ft_weight).reshape(-1, width)[:, order]
    bias, weights = network.layers[0]
    dense = np.asarray(weights)[:, np.concatenate((order, width + order))]
    layers = [(bias, np.ascontiguousarray(dense)), *network.layers[1:]]
    ft_bias = np.asarray(network.ft_bias)[order]
    return replace(network, ft_bias=ft_bias, ft_weight=np.ascontiguousarray(rows), layers=layers)
