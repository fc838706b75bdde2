"""The quality of moves: chances of winning, losses, grades, accuracy.

The chance at a value of v centipawns is 1 / (1 + exp(-v / 600)): the scale on which the evaluation is trained
(docs/learning.md), and ShogiHome's default. Chances and losses are percentages with one decimal, rounded once, here:
what is shown, graded and counted is the same number. The loss of a move is the mover's chance with the best line minus
that after the move: at least 0, and 0 for the search's own move. The grades and their bounds (5, 10, 20 and 50
percentage points) are ShogiHome's defaults: 緩手, 疑問手, 悪手, 大悪手.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import harmonic_mean, pstdev

from usi_engine.search.results import Analysis, winning_chance

NOTABLE = 1.0  # percentage points; smaller differences between two searches are noise
WINDOWS = (2, 8)  # least and most moves in a window of the accuracy
WEIGHTS = (0.5, 12.0)  # least and most weight of a move in it


@dataclass(frozen=True)
class Grade:
    """A grade of bad moves: the least loss in percentage points, the name in English, its plural, in Japanese."""

    least: float
    name: str
    plural: str
    japanese: str


GRADES = (
    Grade(50, "blunder", "blunders", "大悪手"),
    Grade(20, "mistake", "mistakes", "悪手"),
    Grade(10, "dubious", "dubious moves", "疑問手"),
    Grade(5, "inaccuracy", "inaccuracies", "緩手"),
)


@dataclass(frozen=True)
class JudgedMove:
    """A judged move: ply from 1, whether Black made it, its loss in percentage points, whether it was the best."""

    ply: int
    move: str
    by_black: bool
    loss: float
    best: bool

    @property
    def grade(self) -> Grade | None:
        """The grade of a bad move; None for any other."""
        return next((grade for grade in GRADES if self.loss >= grade.least), None)

    @property
    def has_better(self) -> bool:
        """True if the loss is larger than the noise of the search."""
        return self.loss >= NOTABLE

    @property
    def accuracy(self) -> float:
        """The accuracy of the move, 0 to 100."""
        return accuracy(self.loss)


def percent(value: int) -> float:
    """Return the chance of winning at this value in percent with one decimal; those of both sides make 100."""
    chance = round(100 * winning_chance(abs(value)), 1)
    return chance if value >= 0 else round(100 - chance, 1)


def judge(moves: Sequence[str], evaluated: Sequence[Analysis], black_begins: bool) -> list[JudgedMove]:
    """Judge each move by the positions before and after it; `evaluated` has one more item than `moves`."""
    judged = []
    for ply, move in enumerate(moves, 1):
        before, after = evaluated[ply - 1], evaluated[ply]
        best = before.pv[:1] == (move,)
        lost = round(percent(before.score.value) - percent(-after.score.value), 1)
        judged.append(JudgedMove(ply, move, (ply % 2 == 1) == black_begins, 0.0 if best else max(lost, 0.0), best))
    return judged


# ---- accuracy ----


def accuracy(loss: float) -> float:
    """Return the accuracy, 0 to 100, of a move that lost this many percentage points.

    The formula is lichess's, https://lichess.org/page/accuracy, without its bonus of 1 for the uncertainty.
    """
    raw = 103.1668 * math.exp(-0.04354 * loss) - 3.1669
    return min(max(raw, 0.0), 100.0) if loss else 100.0


def weights_of(chances: Sequence[float]) -> list[float]:
    """Return a weight for each move by the volatility of the chances around it; there is one more chance than moves.

    The weight is the standard deviation in a window of a tenth of the moves, at the beginning the first window, as in
    AccuracyPercent.scala of lichess, github.com/lichess-org/lila.
    """
    size = min(max((len(chances) - 1) // 10, WINDOWS[0]), WINDOWS[1])
    windows = [chances[max(end - size, 0) : max(end, size)] for end in range(2, len(chances) + 1)]
    return [min(max(pstdev(window), WEIGHTS[0]), WEIGHTS[1]) for window in windows]


def game_accuracy(judged: Sequence[JudgedMove], weights: Sequence[float]) -> float | None:
    """Return the accuracy of the moves, the mean of their weighted and their harmonic mean; None without moves."""
    if not judged:
        return None
    accuracies = [move.accuracy for move in judged]
    weighted = sum(one * weight for one, weight in zip(accuracies, weights, strict=True)) / sum(weights)
    harmonic = harmonic_mean([max(one, 1.0) for one in accuracies])
    return round((weighted + harmonic) / 2, 1)


@dataclass(frozen=True)
class Totals:
    """One side's game: accuracy (None without moves), moves, number of best moves, mean loss in percentage points,
    count of each grade by its name.
    """

    accuracy: float | None
    moves: int
    best: int
    mean_loss: float
    grades: dict[str, int]


def totals(judged: Sequence[JudgedMove], evaluated: Sequence[Analysis], black: bool) -> Totals:
    """Return the totals of Black's or White's moves."""
    values = [one.score.value if ply % 2 else -one.score.value for ply, one in enumerate(evaluated)]
    weights = weights_of(list(map(percent, values)))
    pairs = [(move, weight) for move, weight in zip(judged, weights, strict=True) if move.by_black == black]
    own = [move for move, _ in pairs]
    counts = {grade.name: sum(move.grade == grade for move in own) for grade in GRADES}
    mean = round(sum(move.loss for move in own) / len(own), 1) if own else 0.0
    best = sum(move.best for move in own)
    return Totals(game_accuracy(own, [weight for _, weight in pairs]), len(own), best, mean, counts)
