"""Elo, confidence intervals and the sequential probability ratio test (SPRT) of a match."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance

NORMAL_95 = 1.96  # half-width of a 95 % interval in standard deviations
PRIOR_VARIANCE = 0.25  # one imaginary score of greatest variance, so that a few equal scores do not seem certain


def elo(score: float) -> float:
    """Return the Elo difference for a score between 0 and 1; infinite at either end."""
    if not 1e-9 < score < 1 - 1e-9:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def expected(difference: float) -> float:
    """Return the expected score for an Elo difference."""
    return float(1 / (1 + 10 ** (-difference / 400)))


@dataclass(frozen=True)
class Estimate:
    """Score between 0 and 1 with the ends of its 95 % interval."""

    score: float
    low: float
    high: float

    def elo(self) -> tuple[float, float, float]:
        """Return the Elo difference and the ends of its interval."""
        return elo(self.score), elo(self.low), elo(self.high)

    def text(self) -> str:
        """Return `score 86.7 % (70.3 to 94.7), Elo +325 (+150 to +500)`."""
        value, low, high = (f"{each:+.0f}" for each in self.elo())
        return (
            f"score {self.score * 100:.1f} % ({self.low * 100:.1f} to {self.high * 100:.1f}), "
            f"Elo {value} ({low} to {high})"
        )


def estimate(scores: Sequence[float]) -> Estimate:
    """Return Wilson's interval for the mean of independent scores between 0 and 1: games, or better means of pairs.

    Wilson assumes wins and losses only. Draws and pairs of games vary less, so the interval is scaled by the ratio of
    the variances.
    """
    mean, variance = fmean(scores), pvariance(scores)
    coin = len(scores) * mean * (1 - mean)
    ratio = (len(scores) * variance + PRIOR_VARIANCE) / (coin + PRIOR_VARIANCE)
    doubt = NORMAL_95**2 * ratio / len(scores)
    middle = (mean + doubt / 2) / (1 + doubt)
    half = math.sqrt(doubt * mean * (1 - mean) + doubt**2 / 4) / (1 + doubt)
    return Estimate(mean, max(middle - half, 0.0), min(middle + half, 1.0))


def likelihood_ratio(scores: Sequence[float], worse: float, better: float) -> float:
    """Return the log-likelihood ratio of `better` Elo over `worse` Elo (M. Van den Bergh's normal approximation, as in
    Fishtest). Pass the mean of each pair of games from one opening as a score, because it varies less.
    """
    mean, variance = fmean(scores), pvariance(scores)
    variance = (len(scores) * variance + PRIOR_VARIANCE) / (len(scores) + 1)
    low, high = expected(worse), expected(better)
    return len(scores) * (high - low) * (2 * mean - low - high) / (2 * variance)


def verdict(ratio: float, risk: float = 0.05) -> str:
    """Return `better`, `worse` or `open` at this risk of either error."""
    bound = math.log((1 - risk) / risk)
    return "better" if ratio >= bound else "worse" if ratio <= -bound else "open"
