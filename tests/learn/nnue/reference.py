"""Networks computed with numpy from the definition, in float64 and in integers, without code of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from usi_engine.evaluation.network_file import NetworkFile

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[Any]
Views = list[tuple[list[int], list[int]]]

BONAPIECES, SQUARES, HAND_END = 1548, 81, 90
SHARED_ROWS = BONAPIECES + 18 * 17 * 17
NO_SCORE, NO_RESULT = -32768, 2
# First number and count of each kind in Black's hand; White's follow.
HANDS = [(0, 19), (38, 5), (48, 5), (58, 5), (68, 5), (78, 3), (84, 3)]


def seen_by_white(number: int) -> int:
    """Return the Bonapiece number of the inverse."""
    for start, count in HANDS:
        if start <= number < start + 2 * count:
            return number + count if number < start + count else number - count
    kind, square = divmod(number - HAND_END, SQUARES)
    return HAND_END + (kind ^ 1) * SQUARES + SQUARES - 1 - square


def active_features(position: Any, color: int) -> list[int]:
    """Return the K+P features from the perspective of a side."""
    numbers = [int(number) for number in position["pieces"] if number]
    seen = [seen_by_white(number) for number in numbers] if color else numbers
    own, enemy = int(position["king"][color]), SQUARES - 1 - int(position["king"][color ^ 1])
    return [*seen, BONAPIECES + own, BONAPIECES + SQUARES + enemy]


def half_kp_features(position: Any, color: int) -> list[int]:
    """Return the HalfKP features from the perspective of a side."""
    return [int(position["king"][color]) * BONAPIECES + number for number in active_features(position, color)[:-2]]


def shared_rows(king: int, number: int) -> list[int]:
    """Return the shared rows of a HalfKP row: of the number and of the offset from the king."""
    if number < HAND_END:
        return [number]
    kind, square = divmod(number - HAND_END, SQUARES)
    files, ranks = square // 9 - king // 9, square % 9 - king % 9
    files = abs(files) if king // 9 == 4 else files
    return [number, BONAPIECES + (kind * 17 + files + 8) * 17 + ranks + 8]


def views(positions: Positions, features: Callable[[Any, int], list[int]] = active_features) -> Views:
    """Return each position's features for the side to move and for the other side."""
    return [(features(one, int(one["side"])), features(one, 1 - int(one["side"]))) for one in positions]


def half_kp_views(positions: Positions) -> Views:
    return views(positions, half_kp_features)


def targets(positions: Positions, score_scale: float, result_share: float) -> Floats:
    """Return the win probabilities of the side to move."""
    sign = 1.0 - 2.0 * positions["side"]
    result = (1 + sign * positions["result"]) / 2
    searched = 1 / (1 + np.exp(-sign * positions["score"] / score_scale))
    share = np.where(positions["result"] == NO_RESULT, 0.0, result_share)
    return np.asarray(np.where(positions["score"] == NO_SCORE, result, (1 - share) * searched + share * result))


def rows_of(transformer: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rearrange [tile][feature][64] as [feature][width]."""
    return np.asarray(transformer.transpose(1, 0, 2).reshape(transformer.shape[1], -1))


def float_outputs(blocks: dict[str, Floats], given: Views) -> Floats:
    """Return the last layer's sums without rounding."""
    rows = rows_of(blocks["transformer"])
    sums = np.array([np.concatenate([rows[view].sum(axis=0) + rows[-1] for view in both]) for both in given])
    inputs = np.clip(sums, 0, 127)
    for number in (1, 2):
        sums = inputs @ blocks[f"weights{number}"] + blocks[f"biases{number}"]
        inputs = np.clip(sums / 64, 0, 127)
    return np.asarray((inputs @ blocks["weights3"] + blocks["biases3"])[:, 0])


def loss(outputs: Floats, goal: Floats, score_scale: float) -> float:
    """Return the mean divergence of the win probabilities from their targets."""
    win = 1 / (1 + np.exp(-outputs / (16 * score_scale)))
    return float((goal * np.log(goal / win) + (1 - goal) * np.log((1 - goal) / (1 - win))).mean())


def integer_outputs(network: NetworkFile, given: Views) -> npt.NDArray[np.int64]:
    """Return the last layer's sums in the integers of play."""
    weights, bias = np.asarray(network.ft_weight, np.int64), np.asarray(network.ft_bias, np.int64)
    inputs = np.array([np.concatenate([weights[view].sum(axis=0) + bias for view in both]) for both in given])
    for number, (layer_bias, weight) in enumerate(network.layers):
        layer_weight = np.asarray(weight, np.int64)
        inputs = np.clip(inputs if number == 0 else inputs >> 6, 0, 127)
        padded = np.zeros((len(inputs), layer_weight.shape[1]), np.int64)
        padded[:, : inputs.shape[1]] = inputs
        inputs = padded @ layer_weight.T + layer_bias
    return np.asarray(inputs[:, 0])
