"""Random networks of any architecture."""

from __future__ import annotations

import numpy as np

from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import PROGRESS_SHAPE, NetworkFile, layer_shapes, pack_dense


def random_network(architecture: Architecture, seed: int = 1, wild: bool = False) -> NetworkFile:
    """Make a network whose sums reach both ends of the activations; `wild`: words of the whole range, which wrap."""
    rng = np.random.default_rng(seed)
    width, most = architecture.width, 32767 if wild else 40
    bias = rng.integers(-most, most, width, np.int16)
    weight = rng.integers(-most, most, (architecture.feature_count, width), np.int16)
    if architecture.sfnn:
        bias, weight = bias & ~1, weight & ~1
    stacks = [_random_layers(architecture, rng, wild) for _ in range(architecture.stacks)]
    progress = None
    if architecture.progress:
        progress = int(rng.integers(-9000, 9000)), rng.integers(-40000, 40000, PROGRESS_SHAPE, np.int32)
    return NetworkFile(architecture, "", bias, weight, pack_dense(architecture, stacks), progress)


def _random_layers(
    architecture: Architecture, rng: np.random.Generator, wild: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Make a stack; the padding is not 0, because it must be ignored."""
    layers = []
    for outputs, inputs in layer_shapes(architecture):
        weight = (rng.integers(-128, 128, (outputs, inputs)) // (1 if wild else 3)).astype(np.int8)
        layers.append((rng.integers(-9000, 9000, outputs, np.int32), weight))
    return layers
