"""Agreement of a model with positions: the divergence from what they teach, the correlation with their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.corpus import NO_RESULT, NO_SCORE
from usi_engine.learn.corpus.build import Positions


def sigmoid(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-np.asarray(values, np.float64)))


def targets(positions: Positions, score_scale: float, result_share: float) -> npt.NDArray[np.float64]:
    """Return Black's win probabilities, which a model learns."""
    result = (positions["result"] + 1.0) / 2
    searched = sigmoid(positions["score"] / score_scale)
    share = np.where(positions["result"] == NO_RESULT, 0.0, result_share)
    return np.where(positions["score"] == NO_SCORE, result, (1 - share) * searched + share * result)


def divergence(probability: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> float:
    """Return the mean Kullback-Leibler divergence of the model's win probabilities from the targets, in nats."""
    p, t = np.clip(probability, 1e-9, 1 - 1e-9), np.clip(target, 1e-9, 1 - 1e-9)
    return float((t * np.log(t / p) + (1 - t) * np.log((1 - t) / (1 - p))).mean())


def scores_differ(positions: Positions) -> bool:
    """Return whether there are two different scores; otherwise a correlation is NaN, which JSON lacks."""
    return len(np.unique(positions["score"][positions["score"] != NO_SCORE])) > 1


def agreement(
    probability: npt.NDArray[np.float64], positions: Positions, score_scale: float, result_share: float
) -> dict[str, float]:
    """Return the divergence of Black's win probabilities from the targets and their correlation with the search's."""
    scored = positions["score"] != NO_SCORE
    found = {"divergence": divergence(probability, targets(positions, score_scale, result_share))}
    if scores_differ(positions) and np.ptp(probability[scored]) > 0:
        searched = sigmoid(positions["score"][scored] / score_scale)
        found["correlation"] = float(np.corrcoef(probability[scored], searched)[0, 1])
    return found
