"""Random networks of any architecture, and positions that exercise their features and selectors."""

import random

import numpy as np

from core_ext.engine import Network
from tests.positions import scatter
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import PROGRESS_SHAPE, NetworkFile, layer_shapes, pack_dense


def random_network(architecture: Architecture, seed: int = 1, wild: bool = False) -> NetworkFile:
    """Make a network whose sums reach both ends of the activations; `wild`: words of the whole range, which wrap."""
    rng = np.random.default_rng(seed)
    width, most = architecture.width, 32767 if wild else 80 if architecture.sfnn else 40
    bias = rng.integers(-most, most, width, np.int16)
    weight = rng.integers(-most, most, (architecture.feature_count, width), np.int16)
    if architecture.sfnn:
        bias, weight = bias & ~1, weight & ~1
    stacks = [_random_layers(architecture, rng, wild) for _ in range(architecture.stacks)]
    progress = None
    if architecture.progress:
        progress = int(rng.integers(-9000, 9000)), rng.integers(-40000, 40000, PROGRESS_SHAPE, np.int32)
    return NetworkFile(architecture, "", bias, weight, pack_dense(architecture, stacks), progress)


def to_play(file: NetworkFile, fv_scale: int = 16) -> Network:
    return Network(file.architecture, file.bias, file.weight, file.dense, file.progress, fv_scale)


def _random_layers(
    architecture: Architecture, rng: np.random.Generator, wild: bool
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Make a stack; the padding is not 0, because it must be ignored."""
    layers = []
    for outputs, inputs in layer_shapes(architecture):
        weight = (rng.integers(-128, 128, (outputs, inputs)) // (1 if wild else 3)).astype(np.int8)
        layers.append((rng.integers(-9000, 9000, outputs, np.int32), weight))
    return layers


def scattered(seed: int, count: int) -> list[str]:
    """Return positions with all pieces anywhere, kings too, and many of them in the hands."""
    rng, found = random.Random(seed), list[str]()
    while len(found) < count:
        pieces, hands = ["K", "k"], ""
        in_hand, black = rng.choice((0.02, 0.1, 0.3, 1.0)), rng.choice((0.1, 0.5, 0.9))
        for piece in 8 * "PP" + "PPLLLLNNNNSSSSGGGGBBRR":
            kind = piece if rng.random() < black else piece.lower()
            if rng.random() < in_hand:
                hands += kind
            else:
                pieces.append(kind if piece == "G" else f"+{kind}")
        if board := scatter(rng, pieces, hands, rng.choice("bw")):
            found.append(board.sfen())
    return found
