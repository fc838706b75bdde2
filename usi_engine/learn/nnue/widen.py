"""Wider first layers with the same values, to train a larger network from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from usi_engine.evaluation.network_file import NetworkFile, Words


def widened(network: NetworkFile, width: int, seed: int = 1) -> NetworkFile:
    """Return the network with `width` units per side in the first layer; unchanged if it has as many.

    Units are repeated in turn. Each outgoing weight is divided at random between the copies, so that training moves
    them apart (Net2Net: T. Chen, I. Goodfellow, J. Shlens, 2016, arXiv:1511.05641).
    """
    old = network.architecture.width
    if width <= old:
        return network
    copies = -(-width // old)
    bias = np.tile(np.asarray(network.ft_bias), copies)[:width]
    rows = np.tile(np.asarray(network.ft_weight).reshape(-1, old), copies)[:, :width]
    (bias1, weight1), *others = network.layers
    layers = [(bias1, _divided(weight1, old, width, copies, seed)), *others]
    sizes = replace(network.architecture, width=width)
    return replace(network, architecture=sizes, text="", ft_bias=bias, ft_weight=rows.copy(), layers=layers)


def _divided(weights: Words, old: int, width: int, copies: int, seed: int) -> Words:
    """Divide the weights of the first hidden layer between the copies of each unit, as integers with the same sums."""
    whole = np.asarray(weights).astype(np.int32).reshape(-1, 2, old)  # outputs, both sides, units
    shares = np.random.default_rng(seed).uniform(0.3, 1, (copies, *whole.shape))
    shares[-1, ..., width - (copies - 1) * old :] = 0  # not copied in the last turn
    ends = np.cumsum(shares, axis=0)
    parts = np.diff(np.rint(whole * (ends / ends[-1])), axis=0, prepend=0)
    side_by_side = parts.transpose(1, 2, 0, 3).reshape(len(whole), 2, -1)[..., :width]
    return side_by_side.reshape(len(whole), -1).astype(np.int8)
