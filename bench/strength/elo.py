"""Elo and the sequential probability ratio test of a match."""

from __future__ import annotations

import math
from collections.abc import Sequence


def elo(score: float) -> float:
    """Elo difference of a score between 0 and 1."""
    bounded = min(max(score, 1e-3), 1 - 1e-3)
    return -400 * math.log10(1 / bounded - 1)


def expected(difference: float) -> float:
    """The expected score at an Elo difference."""
    return float(1 / (1 + 10 ** (-difference / 400)))


def spread_of(scores: Sequence[float]) -> tuple[float, float]:
    """Mean and variance."""
    mean = sum(scores) / len(scores)
    return mean, sum((score - mean) ** 2 for score in scores) / len(scores)


def with_error(scores: Sequence[float]) -> dict[str, float]:
    """Score and Elo of independent scores between 0 and 1, each with the half-width of its 95 % interval."""
    mean, variance = spread_of(scores)
    half = 1.96 * math.sqrt(variance / len(scores))
    slope = 400 / math.log(10) / max(mean * (1 - mean), 1e-3)
    return {"score": mean, "score_error": half, "elo": elo(mean), "elo_error": slope * half}


def likelihood_ratio(scores: Sequence[float], worse: float, better: float) -> float:
    """Log-likelihood ratio of the scores, that of `better` Elo over that of `worse` (M. Van den Bergh's normal
    approximation, as in Fishtest). Use the mean of each pair of games from one opening as a score: it varies less.
    """
    mean, variance = spread_of(scores)
    low, high = expected(worse), expected(better)
    return len(scores) * (high - low) * (2 * mean - low - high) / (2 * max(variance, 1e-4))


def verdict(ratio: float, risk: float = 0.05) -> str:
    """`better`, `worse` or `open` at this risk of either error."""
    bound = math.log((1 - risk) / risk)
    return "better" if ratio >= bound else "worse" if ratio <= -bound else "open"
