"""Chances, losses, grades, totals."""

import pytest

from tests.records.common import valued
from usi_engine.analysis.judgement import judge, totals
from usi_engine.results import winning_chance


def test_winning_chance() -> None:
    assert winning_chance(0) == 0.5
    assert winning_chance(600) == pytest.approx(0.7311, abs=1e-4)
    assert winning_chance(600) + winning_chance(-600) == pytest.approx(1)
    assert (winning_chance(31999), winning_chance(-31999)) == (1.0, 0.0)


@pytest.mark.parametrize("value, grade", [(0, None), (100, None), (140, "inaccuracy"), (300, "dubious"),
                                          (600, "mistake"), (31990, "blunder")])  # fmt: skip
def test_grades_by_what_the_move_gave_the_opponent(value: int, grade: str | None) -> None:
    """The position was even; after the move the opponent has `value`."""
    (move,) = judge(["7g7f"], [valued(0, "2g2f"), valued(value)], black_begins=True)
    assert (move.grade.name if move.grade else None) == grade
    assert move.loss == pytest.approx(100 * (winning_chance(value) - 0.5))


def test_the_best_move_and_better_ones_lose_nothing() -> None:
    best, better = judge(["7g7f", "3c3d"], [valued(0, "7g7f"), valued(300, "8c8d"), valued(-500)], black_begins=True)
    assert (best.best, best.loss) == (True, 0)
    assert (better.best, better.loss) == (False, 0)


def test_totals_are_each_sides_own() -> None:
    evaluated = [valued(0, "2g2f"), valued(600, "3c3d"), valued(-600, "2g2f"), valued(31999)]
    judged = judge(["7g7f", "3c3d", "1g1f"], evaluated, black_begins=True)
    black, white = totals(judged, True), totals(judged, False)
    assert (black.moves, black.best, white.moves, white.best) == (2, 0, 1, 1)
    assert (black.grades["mistake"], black.grades["blunder"]) == (2, 0)
    assert white.mean_loss == 0
    (move,) = judge(["7a6b"], [valued(0, "7a6b"), valued(0)], black_begins=False)
    assert not move.by_black
    assert totals([move], True).moves == 0
