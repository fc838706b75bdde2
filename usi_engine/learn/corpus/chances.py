"""Winning chances of positions: smoothed scores, what a position teaches, and how well a model agrees with it."""

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.corpus import NO_RESULT, NO_SCORE, RESULT_UNIT
from usi_engine.search.results import CENTIPAWNS, winning_chance

MATE_SCORE = 25_000  # least score of a mate; other programs give mates 30,000 or 32,000
LEAST_CHANCE = 1e-6  # so that a chance of 0 or 1 has a score

Positions = npt.NDArray[Any]
Chances = npt.NDArray[np.float64]


def invert_chance(chance: float) -> int:
    """Return the score with this winning chance."""
    chance = max(LEAST_CHANCE, min(1 - LEAST_CHANCE, chance))
    return round(CENTIPAWNS * log(chance / (1 - chance)))


def smoothed(scores: Sequence[int | None], share: float) -> list[int | None]:
    """Return the scores (centipawns for the side to move) with a `share` of later ones, from the end backwards.

    Each score is replaced by a weighted mean of itself and of what the game shows later, as temporal difference
    learning with eligibility traces does (Sutton 1988, TD(lambda)): a score of few nodes is less noisy if later
    searches have a say.

    chance[i] = (1 - share) * winning_chance(scores[i]) + share * (1 - chance[i + 1])

    The last score, a mate score and one before a move without a score keep their value: what follows a random move says
    nothing about the position before it.
    """
    found = list(scores)
    after: float | None = None  # chance of the side to move in the next position
    for ply in range(len(scores) - 1, -1, -1):
        score = scores[ply]
        if score is None:
            after = None
            continue
        own = winning_chance(score)
        if after is None or abs(score) >= MATE_SCORE:
            after = own
            continue
        after = (1 - share) * own + share * (1 - after)
        found[ply] = invert_chance(after)
    return found


def winning_chances(values: npt.NDArray[Any]) -> Chances:
    """Return the winning chance of each value."""
    return 1.0 / (1.0 + np.exp(np.asarray(values, np.float64) / -CENTIPAWNS))


def averaged(positions: Positions) -> Positions:
    """Return each distinct position once, with its most frequent move.

    Its score is the mean of its scores, as winning chances, its result the mean of its results.
    """
    _, firsts, groups = np.unique(positions["key"], return_index=True, return_inverse=True)
    found, scores, results = positions[firsts], positions["score"], positions["result"]
    found["move"] = most_frequent(positions["move"], groups)
    chances = means(winning_chances(scores), scores != NO_SCORE, groups)
    scores, results = CENTIPAWNS * np.log(chances / (1 - chances)), means(results, results != NO_RESULT, groups)
    found["score"] = np.nan_to_num(np.rint(scores), nan=NO_SCORE)
    found["result"] = np.nan_to_num(np.rint(results), nan=NO_RESULT)
    return found


def most_frequent(moves: npt.NDArray[np.uint16], groups: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16]:
    """Return the most frequent move of each group, of several the one with the smallest bits; 0 if all are 0."""
    pairs, counts = np.unique(groups << 16 | moves, return_counts=True)
    counts[pairs & 0xFFFF == 0] = 0
    ascending = pairs[np.lexsort((-pairs, counts))]
    found = np.zeros(groups.max(initial=-1) + 1, np.uint16)
    found[ascending >> 16] = ascending & 0xFFFF  # the last one assigned stays
    return found


def means(values: npt.NDArray[Any], known: npt.NDArray[np.bool_], groups: npt.NDArray[np.int64]) -> Chances:
    """Return the mean of the known values of each group; NaN if there are none."""
    size = groups.max(initial=-1) + 1
    counts = np.bincount(groups[known], minlength=size)
    sums = np.bincount(groups[known], values[known], size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def targets(positions: Positions, result_share: float) -> Chances:
    """Return Black's winning chances, which a model learns."""
    result = (positions["result"] / RESULT_UNIT + 1) / 2
    searched = winning_chances(positions["score"])
    share = np.where(positions["result"] == NO_RESULT, 0.0, result_share)
    return np.where(positions["score"] == NO_SCORE, result, (1 - share) * searched + share * result)


def divergence(chances: Chances, target: Chances) -> float:
    """Return the mean Kullback-Leibler divergence of the model's winning chances from the targets, in nats."""
    p, t = np.clip(chances, 1e-9, 1 - 1e-9), np.clip(target, 1e-9, 1 - 1e-9)
    return float((t * np.log(t / p) + (1 - t) * np.log((1 - t) / (1 - p))).mean())


def scores_differ(positions: Positions) -> bool:
    """Return whether there are two different scores; otherwise a correlation is NaN, which JSON lacks."""
    return len(np.unique(positions["score"][positions["score"] != NO_SCORE])) > 1


def agreement(values: npt.NDArray[Any], positions: Positions, result_share: float) -> dict[str, float]:
    """Return how well values (centipawns for Black) agree with positions, if there are any.

    These are the divergence of their winning chances from the targets and the correlation with the search's.
    """
    if not len(positions):
        return {}
    chances, scored = winning_chances(values), positions["score"] != NO_SCORE
    found = {"divergence": divergence(chances, targets(positions, result_share))}
    if scores_differ(positions) and np.ptp(chances[scored]) > 0:
        searched = winning_chances(positions["score"][scored])
        found["correlation"] = float(np.corrcoef(chances[scored], searched)[0, 1])
    return found
