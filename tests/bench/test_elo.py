"""Elo, error bars and the sequential test."""

from __future__ import annotations

import math

import pytest

from bench.strength import elo


@pytest.mark.parametrize("difference", [-300.0, -20.0, 0.0, 35.0, 400.0])
def test_elo_and_expected_score_are_inverse(difference: float) -> None:
    assert elo.elo(elo.expected(difference)) == pytest.approx(difference)


def test_error_bars_shrink_with_the_root_of_the_games() -> None:
    few, many = elo.with_error([0.0, 1.0] * 50), elo.with_error([0.0, 1.0] * 200)
    assert few["score"] == many["score"] == 0.5
    assert few["elo_error"] == pytest.approx(2 * many["elo_error"])
    assert few["score_error"] == pytest.approx(1.96 * 0.5 / math.sqrt(100))


def test_sequential_test_decides_both_ways() -> None:
    good, bad = [1.0] * 60 + [0.5] * 40 + [0.0] * 20, [0.0] * 60 + [0.5] * 40 + [1.0] * 20
    assert elo.verdict(elo.likelihood_ratio(good, 0, 50)) == "better"
    assert elo.verdict(elo.likelihood_ratio(bad, 0, 50)) == "worse"
    assert elo.verdict(elo.likelihood_ratio([0.5, 1.0, 0.0] * 4, 0, 20)) == "open"
