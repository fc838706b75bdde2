"""Smoothed scores: the formula, and the scores that keep their value."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from core_ext.corpus import TRAINING_POSITION
from usi_engine.learn.command import main
from usi_engine.learn.corpus.chances import smoothed
from usi_engine.learn.files import TRAINING


def mean_score(share: float, own: float, later: float) -> float:
    """Mix two scores as winning chances."""
    one, two = (1 / (1 + exp(-score / 600)) for score in (own, later))
    chance = (1 - share) * one + share * two
    return 600 * log(chance / (1 - chance))


def test_each_score_is_mixed_with_the_smoothed_score_after_it() -> None:
    """Scores change sides, and the chain begins at the end of the game."""
    third = 900.0
    second = mean_score(0.6, -100, -third)
    first = mean_score(0.6, 50, -second)
    assert smoothed([50, -100, 900], 0.6) == [round(first), round(second), 900]
    assert first > 150 and second < -350
    assert smoothed([50, -100, 900], 0.0) == [50, -100, 900]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([50, None, 900], [50, None, 900]),  # after a random move the position says nothing about the one before
        ([None, 5, None, None], [None, 5, None, None]),
        ([29999, -200, 100], [29999, round(mean_score(0.5, -200, -100)), 100]),  # a mate of another program
        ([31990, -200, 100], [31990, round(mean_score(0.5, -200, -100)), 100]),
        ([9, -31990], [round(mean_score(0.5, 9, 31990)), -31990]),  # a mate counts as a sure win
        ([32767, -32767, 20000, -20000], [32767, -32767, 8289, -20000]),
    ],
)
def test_gaps_and_mates_keep_their_scores(scores: list[int | None], expected: list[int | None]) -> None:
    assert smoothed(scores, 0.5) == expected


def test_the_corpus_has_smoothed_scores(tmp_path: Path) -> None:
    games, corpus = tmp_path / "games.tsv", tmp_path / "corpus"
    games.write_text("b\tscore\tstartpos\t7g7f 50 3c3d -100 2g2f 900\n")
    assert main(["corpus", str(games), "--out", str(corpus), "--smooth", "0.6", "--leaves", "none"]) == 0
    found = np.sort(np.fromfile(corpus / TRAINING, TRAINING_POSITION), order="ply")
    first, second, third = smoothed([50, -100, 900], 0.6)
    assert second is not None
    assert found["score"].tolist() == [first, -second, third]  # for Black
    assert '"smooth": 0.6' in (corpus / "corpus.json").read_text()
