"""Elo, confidence intervals and the sequential probability ratio test (SPRT) of a match."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pvariance

from usi_engine.language import _

NORMAL_95 = 1.96  # half-width of a 95 % interval in standard deviations
PRIOR_VARIANCE = 0.25  # one imaginary score of greatest variance, so that a few equal scores do not seem certain
FEWEST_SCORES = 20  # before a sequential test may end


def elo(score: float) -> float:
    """Return the Elo difference for a score between 0 and 1; infinite at either end."""
    if not 1e-9 < score < 1 - 1e-9:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def expected(difference: float) -> float:
    """Return the expected score for an Elo difference."""
    return float(1 / (1 + 10 ** (-difference / 400)))


@dataclass(frozen=True)
class Estimate:
    """Score between 0 and 1 with the ends of its 95 % interval."""

    score: float
    low: float
    high: float

    def texts(self) -> list[str]:
        """Return the score in percent, its interval, the Elo difference and its interval."""
        values = self.score, self.low, self.high
        percents, elos = [f"{100 * value:.1f}" for value in values], [f"{elo(value):+.0f}" for value in values]
        return [percents[0], interval(*percents[1:]), elos[0], interval(*elos[1:])]


def interval(low: str, high: str) -> str:
    """Return the ends of an interval as text."""
    return _("{low} to {high}").format(low=low, high=high)


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


def moments(scores: Sequence[float]) -> tuple[float, float]:
    """Return mean and variance of the scores, with one imaginary score of PRIOR_VARIANCE."""
    return fmean(scores), (len(scores) * pvariance(scores) + PRIOR_VARIANCE) / (len(scores) + 1)


def pentanomial(scores: Sequence[float]) -> tuple[int, ...]:
    """Return the numbers of pairs with 0, 1/2, 1, 1 1/2 and 2 points; `scores` are means of two games."""
    return tuple(sum(round(4 * score) == place for score in scores) for place in range(5))


def normalized_elo(scores: Sequence[float]) -> tuple[float, float]:
    """Return normalized Elo and half of its 95 % interval from the scores of pairs of games.

    The unit is the standard deviation of one game (that of a pair's score times the root of 2), so the value says how
    many games are needed to show a difference (M. Van den Bergh, "Normalized Elo", as in Fishtest).
    """
    mean, variance = moments(scores)
    scale = 800 / math.log(10)
    return scale * (mean - 0.5) / math.sqrt(2 * variance), NORMAL_95 * scale / math.sqrt(2 * len(scores))


def superiority(scores: Sequence[float]) -> float:
    """Return the likelihood of superiority (LOS): the probability that the first side is stronger."""
    mean, variance = moments(scores)
    return NormalDist().cdf((mean - 0.5) / math.sqrt(variance / len(scores)))


@dataclass(frozen=True)
class Sprt:
    """A sequential test of `elo1` against `elo0`.

    `alpha` is the risk of accepting elo1 if elo0 is true, `beta` that of accepting elo0 if elo1 is true.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def bounds(self) -> tuple[float, float]:
        """Return the log-likelihood ratios at which elo0 and elo1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, scores: Sequence[float]) -> float:
        """Return the log-likelihood ratio of elo1 over elo0 (M. Van den Bergh's normal approximation, as in Fishtest).

        A score is the mean of a pair of games from one opening, which varies less than single games.
        """
        if not scores:
            return 0.0
        mean, variance = moments(scores)
        low, high = expected(self.elo0), expected(self.elo1)
        return len(scores) * (high - low) * (2 * mean - low - high) / (2 * variance)

    def accepted(self, scores: Sequence[float]) -> float | None:
        """Return the Elo that is accepted, None while the test goes on, always before FEWEST_SCORES."""
        low, high = self.bounds()
        ratio = self.ratio(scores)
        if len(scores) < FEWEST_SCORES or low < ratio < high:
            return None
        return self.elo1 if ratio >= high else self.elo0
