"""Chances, losses, grades, accuracy, totals."""

import statistics

import pytest

from tests.records.common import valued
from usi_engine.analysis.judgement import GRADES, accuracy, game_accuracy, judge, percent, totals, weights_of
from usi_engine.search.results import winning_chance


def test_winning_chance() -> None:
    assert winning_chance(0) == 0.5
    assert winning_chance(600) == pytest.approx(0.7311, abs=1e-4)
    assert winning_chance(600) + winning_chance(-600) == pytest.approx(1)
    assert (winning_chance(31999), winning_chance(-31999)) == (1.0, 0.0)
    assert all(percent(value) + percent(-value) == 100 for value in range(0, 4000, 7))


@pytest.mark.parametrize("value, grade", [(0, None), (100, None), (119, None), (122, "inaccuracy"), (242, "inaccuracy"),
                                          (243, "dubious"), (600, "mistake"), (31990, "blunder")])  # fmt: skip
def test_grades_by_what_the_move_gave_the_opponent(value: int, grade: str | None) -> None:
    """The position was even; after the move the opponent has `value`."""
    (move,) = judge(["7g7f"], [valued(0, "2g2f"), valued(value)], black_begins=True)
    assert (move.grade.name if move.grade else None) == grade
    assert move.loss == round(percent(value) - 50, 1)


def test_grades_and_losses_agree_at_every_value() -> None:
    """Only one number is rounded: no loss is shown with the grade of another."""
    for value in range(4000):
        (move,) = judge(["7g7f"], [valued(0, "2g2f"), valued(value)], black_begins=True)
        shown = float(f"{move.loss:.1f}")
        assert move.grade == next((grade for grade in GRADES if shown >= grade.least), None)


def test_the_best_move_and_better_ones_lose_nothing() -> None:
    evaluated = [valued(0, "7g7f"), valued(300, "8c8d"), valued(-500)]
    best, better = judge(["7g7f", "3c3d"], evaluated, black_begins=True)
    assert (best.best, best.loss, best.accuracy) == (True, 0, 100)
    assert (better.best, better.loss, better.has_better) == (False, 0, False)


@pytest.mark.parametrize("loss, expected", [(0, 100), (0.1, 99.55), (5, 79.82), (10, 63.58), (50, 8.53), (100, 0)])
def test_accuracy_is_that_of_lichess(loss: float, expected: float) -> None:
    assert accuracy(loss) == pytest.approx(expected, abs=0.01)


def test_accuracy_of_a_game() -> None:
    """Calm moves count half, wild ones up to twelve; a window has 2 to 8 chances."""
    chances = [50.0, 50.0, 90.0, 10.0, 10.0]
    assert weights_of(chances) == [0.5, 12, 12, 0.5]
    waves = [float(50 + 3 * (ply % 5)) for ply in range(61)]
    weights = weights_of(waves)
    assert len(weights) == 60
    assert weights[:5] == pytest.approx([statistics.pstdev(waves[:6])] * 5)  # windows of a tenth of the moves
    assert weights[-1] == pytest.approx(statistics.pstdev(waves[-6:]))
    judged = judge(["7g7f", "3c3d"], [valued(0, "2g2f"), valued(600, "8c8d"), valued(0)], black_begins=True)
    low, high = judged[0].accuracy, judged[1].accuracy
    assert high < 100
    mean = ((low * 1 + high * 3) / 4 + 2 / (1 / low + 1 / high)) / 2
    assert game_accuracy(judged, [1, 3]) == round(mean, 1)
    assert game_accuracy([], []) is None


def test_totals_are_each_sides_own() -> None:
    evaluated = [valued(0, "2g2f"), valued(600, "3c3d"), valued(-600, "2g2f"), valued(31999)]
    judged = judge(["7g7f", "3c3d", "1g1f"], evaluated, black_begins=True)
    black, white = totals(judged, evaluated, True), totals(judged, evaluated, False)
    assert (black.moves, black.best, white.moves, white.best) == (2, 0, 1, 1)
    assert (black.grades["mistake"], black.grades["blunder"]) == (2, 0)
    assert (white.mean_loss, white.accuracy) == (0, 100)
    assert black.mean_loss == round(sum(move.loss for move in judged[::2]) / 2, 1)
    evaluated = [valued(0, "7a6b"), valued(0)]
    (move,) = judge(["7a6b"], evaluated, black_begins=False)
    assert not move.by_black
    assert (totals([move], evaluated, True).moves, totals([move], evaluated, True).accuracy) == (0, None)
