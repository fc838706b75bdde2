"""The quality of moves: probabilities of winning, losses, grades.

The probability at a value of v centipawns is 1 / (1 + exp(-v / 600)): the scale on which the evaluation is trained
(docs/learning.md), and ShogiHome's default. The loss of a move is the mover's probability with the best line minus that
after the move: at least 0, and 0 for the search's own move. The grades and their bounds (5, 10, 20 and 50 percentage
points) are ShogiHome's defaults: 緩手, 疑問手, 悪手, 大悪手.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.results import winning_chance


@dataclass(frozen=True)
class Grade:
    """A grade of bad moves: the least loss in percentage points, the name in English and Japanese."""

    least: float
    name: str
    japanese: str


GRADES = (
    Grade(50, "blunder", "大悪手"),
    Grade(20, "mistake", "悪手"),
    Grade(10, "dubious", "疑問手"),
    Grade(5, "inaccuracy", "緩手"),
)


@dataclass(frozen=True)
class Evaluated:
    """A searched position. Values are for the side to move: centipawns, and plies to mate (negative: side to move
    is mated; 0: already; None: no mate). `pv` is the best line in USI, empty if the game is over.
    """

    value: int
    mate: int | None
    depth: int
    nodes: int
    milliseconds: int
    pv: tuple[str, ...]


@dataclass(frozen=True)
class JudgedMove:
    """A move of the game: ply from 1, True if Black made it, percentage points it lost, True if it was the best."""

    ply: int
    move: str
    by_black: bool
    loss: float
    best: bool

    @property
    def grade(self) -> Grade | None:
        """The grade of a bad move; None for any other."""
        return next((grade for grade in GRADES if self.loss >= grade.least), None)


def judge(moves: Sequence[str], evaluated: Sequence[Evaluated], black_begins: bool) -> list[JudgedMove]:
    """Judge each move by the positions before and after it; `evaluated` has one more item than `moves`."""
    judged = []
    for ply, move in enumerate(moves, 1):
        before, after = evaluated[ply - 1], evaluated[ply]
        best = before.pv[:1] == (move,)
        lost = winning_chance(before.value) - winning_chance(-after.value)
        loss = 0.0 if best else 100 * max(lost, 0.0)
        judged.append(JudgedMove(ply, move, (ply % 2 == 1) == black_begins, loss, best))
    return judged


@dataclass(frozen=True)
class Totals:
    """One side's game: moves, number of best moves, mean loss in percentage points, count of each grade."""

    moves: int
    best: int
    mean_loss: float
    grades: dict[str, int]


def totals(judged: Sequence[JudgedMove], black: bool) -> Totals:
    """Return the totals of Black's or White's moves."""
    own = [move for move in judged if move.by_black == black]
    counts = {grade.name: sum(move.grade == grade for move in own) for grade in GRADES}
    mean = sum(move.loss for move in own) / len(own) if own else 0.0
    return Totals(len(own), sum(move.best for move in own), mean, counts)
