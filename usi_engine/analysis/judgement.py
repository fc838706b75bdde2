"""The quality of moves: chances of winning, losses, grades, accuracy.

The chance at a value of v centipawns is 1 / (1 + exp(-v / 600)): the scale on which the evaluation is trained
(docs/learning.md), and ShogiHome's default. Chances and losses are percentages with one decimal, rounded once, here:
what is shown, graded and counted is the same number. The loss of a move is the mover's chance with the best line minus
that after the move: at least 0, and 0 for the search's own move. The grades and their bounds (5, 10, 20 and 50
percentage points) are ShogiHome's defaults: 緩手, 疑問手, 悪手, 大悪手.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import harmonic_mean, pstdev

from usi_engine.records.tree import Node, Record
from usi_engine.search.results import Score, winning_chance

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
class Judgement:
    """A judged move: its loss in percentage points, whether it was the search's own, the plies of a mate given away."""

    loss: float
    best: bool
    missed_mate: int | None = None

    @property
    def grade(self) -> Grade | None:
        """The grade of a bad move; None for any other."""
        return next((grade for grade in GRADES if self.loss >= grade.least), None)

    @property
    def has_better(self) -> bool:
        """True if the move gave a mate away or the loss is larger than the noise of the search."""
        return self.loss >= NOTABLE or self.missed_mate is not None


def percent(value: int) -> float:
    """Return the chance of winning at this value in percent with one decimal; those of both sides make 100."""
    chance = round(100 * winning_chance(abs(value)), 1)
    return chance if value >= 0 else round(100 - chance, 1)


def judge(node: Node) -> Judgement | None:
    """Judge the move that led to a node by its parent's analysis and its own; None at the start or without them."""
    before, after = node.parent.analysis if node.parent else None, node.analysis
    if before is None or after is None:
        return None
    best = before.pv[:1] == (node.move,)
    lost = round(percent(before.score.value) - percent(-after.score.value), 1)
    mated = after.score.mate is not None and after.score.value < 0
    missed = before.score.mate if (before.score.mate or 0) > 0 and not mated else None
    return Judgement(0.0 if best else max(lost, 0.0), best, missed)


def black_score(node: Node) -> Score | None:
    """Return Black's score of a node; None if it was not searched."""
    return node.analysis.score.pov(0) if node.analysis else None


def is_by_rule(score: Score) -> bool:
    """Return True if the score is a win or loss by rule: a declaration or a try."""
    return score.mate is None and score.plies_to_end is not None


def accuracy(loss: float) -> float:
    """Return the accuracy, 0 to 100, of a move that lost this many percentage points.

    The formula is lichess's, https://lichess.org/page/accuracy, without its bonus of 1 for the uncertainty.
    """
    raw = 103.1668 * math.exp(-0.04354 * loss) - 3.1669
    return min(max(raw, 0.0), 100.0) if loss else 100.0


def weigh(chances: Sequence[float]) -> list[float]:
    """Return a weight for each move by the volatility of the chances around it; there is one more chance than moves.

    The weight is the standard deviation in a window of a tenth of the moves, at the beginning the first window, as in
    AccuracyPercent.scala of lichess, github.com/lichess-org/lila.
    """
    size = min(max((len(chances) - 1) // 10, WINDOWS[0]), WINDOWS[1])
    windows = [chances[max(end - size, 0) : max(end, size)] for end in range(2, len(chances) + 1)]
    return [min(max(pstdev(window), WEIGHTS[0]), WEIGHTS[1]) for window in windows]


def game_accuracy(accuracies: Sequence[float], weights: Sequence[float]) -> float | None:
    """Return the accuracy of moves, the mean of their weighted and their harmonic mean; None without moves."""
    if not accuracies:
        return None
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

    @property
    def best_share(self) -> int:
        """The share of best moves in percent."""
        return round(100 * self.best / max(self.moves, 1))


def totals(record: Record, side: int) -> Totals:
    """Return the totals of a side's moves in an analysed game."""
    line = [record.root, *record.main_line]
    weights = weigh([percent(score.value) for score in map(black_score, line) if score])
    judged = [(judge(node), weight) for node, weight in zip(line[1:], weights, strict=True)]
    own = [(move, weight) for move, weight in judged[side ^ record.turn() :: 2] if move]
    losses = [move.loss for move, _ in own]
    counts = {grade.name: sum(move.grade == grade for move, _ in own) for grade in GRADES}
    mean = round(sum(losses) / len(own), 1) if own else 0.0
    exact = game_accuracy([accuracy(loss) for loss in losses], [weight for _, weight in own])
    return Totals(exact, len(own), sum(move.best for move, _ in own), mean, counts)
