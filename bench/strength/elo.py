"""Elo and the sequential probability ratio test of a match."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Half-width of a 95 % interval in standard deviations.
NORMAL_95 = 1.96
# One imaginary score at the greatest variance, so that few equal scores do not pass for certainty.
PRIOR_VARIANCE = 0.25


def elo(score: float) -> float:
    """Elo difference of a score between 0 and 1; infinite at either end."""
    if not 1e-9 < score < 1 - 1e-9:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def expected(difference: float) -> float:
    """The expected score at an Elo difference."""
    return float(1 / (1 + 10 ** (-difference / 400)))


def spread_of(scores: Sequence[float]) -> tuple[float, float]:
    """Mean and variance."""
    mean = sum(scores) / len(scores)
    return mean, sum((score - mean) ** 2 for score in scores) / len(scores)


@dataclass(frozen=True)
class Estimate:
    """A score between 0 and 1 with the ends of its 95 % interval."""

    score: float
    low: float
    high: float

    def elo(self) -> tuple[float, float, float]:
        """The Elo difference and the ends of its interval."""
        return elo(self.score), elo(self.low), elo(self.high)

    def text(self) -> str:
        """`score 86.7 % (70.3 to 94.7), Elo +325 (+150 to +500)`."""
        value, low, high = (f"{each:+.0f}" for each in self.elo())
        return (
            f"score {self.score * 100:.1f} % ({self.low * 100:.1f} to {self.high * 100:.1f}), "
            f"Elo {value} ({low} to {high})"
        )


def estimate(scores: Sequence[float]) -> Estimate:
    """Wilson's interval for the mean of independent scores between 0 and 1: games, or better the means of pairs.

    Wilson's is that of wins and losses alone. Draws and pairs of games vary less, so the scores count for more of
    those, by the ratio of the variances.
    """
    mean, variance = spread_of(scores)
    coin = len(scores) * mean * (1 - mean)
    ratio = (len(scores) * variance + PRIOR_VARIANCE) / (coin + PRIOR_VARIANCE)
    doubt = NORMAL_95**2 * ratio / len(scores)
    middle = (mean + doubt / 2) / (1 + doubt)
    half = math.sqrt(doubt * mean * (1 - mean) + doubt**2 / 4) / (1 + doubt)
    return Estimate(mean, max(middle - half, 0.0), min(middle + half, 1.0))


def likelihood_ratio(scores: Sequence[float], worse: float, better: float) -> float:
    """Log-likelihood ratio of the scores, that of `better` Elo over that of `worse` (M. Van den Bergh's normal
    approximation, as in Fishtest). Use the mean of each pair of games from one opening as a score: it varies less.
    """
    mean, variance = spread_of(scores)
    variance = (len(scores) * variance + PRIOR_VARIANCE) / (len(scores) + 1)
    low, high = expected(worse), expected(better)
    return len(scores) * (high - low) * (2 * mean - low - high) / (2 * variance)


def verdict(ratio: float, risk: float = 0.05) -> str:
    """`better`, `worse` or `open` at this risk of either error."""
    bound = math.log((1 - risk) / risk)
    return "better" if ratio >= bound else "worse" if ratio <= -bound else "open"
