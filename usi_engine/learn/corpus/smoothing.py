"""Smoothing of a game's scores.

Each score is replaced by a weighted mean of itself and of what the game shows later, as temporal difference learning
with eligibility traces does (Sutton 1988, TD(lambda)): a score of few nodes is less noisy if later searches have a say.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from core_ext.training import LOGIT

MATE_SCORE = 25_000  # least score of a mate; other programs give mates 30,000 or 32,000
LEAST_CHANCE = 1e-6  # so that a chance of 0 or 1 has a score


def to_chance(score: int) -> float:
    """Return the winning chance of a score, 1 / (1 + exp(-score / LOGIT)), as training understands it."""
    return 1 / (1 + exp(-score / LOGIT))


def to_score(chance: float) -> int:
    chance = max(LEAST_CHANCE, min(1 - LEAST_CHANCE, chance))
    return round(LOGIT * log(chance / (1 - chance)))


def smoothed(scores: Sequence[int | None], share: float) -> list[int | None]:
    """Return the scores (centipawns for the side to move) with a `share` of later ones, from the end backwards.

    chance[i] = (1 - share) * to_chance(scores[i]) + share * (1 - chance[i + 1])

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
        own = to_chance(score)
        if after is None or abs(score) >= MATE_SCORE:
            after = own
            continue
        after = (1 - share) * own + share * (1 - after)
        found[ply] = to_score(after)
    return found
