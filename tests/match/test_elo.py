"""Elo and its intervals, sequential tests, tuning."""

import math
import random
import shlex
from pathlib import Path

import pytest

from tests.scripted_engine import scripted
from usi_engine.files import KeptRows
from usi_engine.match import command, elo
from usi_engine.match.report import pairs_text
from usi_engine.match.spsa import Tuning


@pytest.mark.parametrize("difference", [-300.0, -20.0, 0.0, 35.0, 400.0])
def test_elo_and_expected_score_are_inverse(difference: float) -> None:
    assert elo.elo(elo.expected(difference)) == pytest.approx(difference)


def test_few_games_prove_little() -> None:
    """Wilson's interval of two wins, one pair or four even pairs is wide."""
    won = elo.estimate([1.0, 1.0])
    assert (won.score, won.high) == (1.0, 1.0)
    assert won.low == pytest.approx(0.342, abs=0.001)
    assert elo.estimate([1.0]).low < won.low < elo.estimate([1.0] * 20).low < 0.85
    even = elo.estimate([0.5] * 4)
    assert even.low < 0.35 and even.high > 0.65
    lost = elo.estimate([0.0, 0.0])
    assert lost.low == 0.0
    assert lost.high == pytest.approx(1 - won.low)


def test_interval_covers_the_truth_about_95_times_in_100() -> None:
    """Pairs of games with a score of 0.5 and of 0.9."""
    rng = random.Random(3)
    for likely, count in ((0.5, 10), (0.5, 100), (0.9, 12), (0.9, 100)):
        matches = ([sum(rng.random() < likely for _ in range(2)) / 2 for _ in range(count)] for _ in range(400))
        covered = sum(found.low <= likely <= found.high for found in map(elo.estimate, matches))
        assert covered >= 368, (likely, count, covered)


def test_many_games_have_the_classical_interval() -> None:
    few, many = elo.estimate([0.0, 1.0] * 50), elo.estimate([0.0, 1.0] * 5000)
    assert few.score == many.score == 0.5
    assert few.high - 0.5 == pytest.approx(0.5 - few.low) == pytest.approx(0.096, abs=0.001)
    assert many.high - 0.5 == pytest.approx(1.96 * 0.5 / 100, rel=0.01)
    pairs = elo.estimate([0.5] * 4000 + [0.0, 1.0] * 500)
    assert pairs.high - 0.5 == pytest.approx(1.96 * math.sqrt(0.05 / 5000), rel=0.01)


def test_text_and_wilsons_interval() -> None:
    """Published tables give 70 to 95 % for 26 wins in 30 games."""
    assert elo.estimate([1.0] * 26 + [0.0] * 4).texts() == ["86.7", "70.3 to 94.7", "+325", "+150 to +500"]
    assert elo.estimate([0.5, 0.5]).texts()[2] == "+0"
    assert elo.estimate([1.0, 1.0]).texts() == ["100.0", "34.2 to 100.0", "+inf", "-113 to +inf"]


def test_sequential_test_decides_both_ways() -> None:
    good, bad = [1.0] * 60 + [0.5] * 40 + [0.0] * 20, [0.0] * 60 + [0.5] * 40 + [1.0] * 20
    assert (elo.Sprt(0, 50).accepted(good), elo.Sprt(0, 50).accepted(bad)) == (50, 0)
    assert elo.Sprt(0, 20).accepted([0.5, 1.0, 0.0] * 8) is None
    assert elo.Sprt(0, 10).accepted([0.5] * 20) is None  # few equal scores are no certainty
    assert elo.Sprt(0, 50).accepted([1.0] * 19) is None and elo.Sprt(0, 50).accepted([1.0] * 20) == 50
    assert elo.Sprt(0, 50).bounds() == pytest.approx((-2.944, 2.944), abs=0.001)
    assert elo.Sprt(0, 50, 0.01, 0.1).bounds() == pytest.approx((-2.293, 4.500), abs=0.001)


def test_errors_of_the_sequential_test_are_as_rare_as_asked() -> None:
    """Drawn from the two values that are tested, as pairs of independent games."""
    rng, test = random.Random(5), elo.Sprt(0, 60, 0.05, 0.05)
    for true in (0.0, 60.0):
        wrong = 0
        for _match in range(100):
            scores = list[float]()
            while (accepted := test.accepted(scores)) is None:
                scores.append(sum(rng.random() < elo.expected(true) for _ in range(2)) / 2)
            wrong += accepted != true
        assert wrong <= 12, true


def test_pairs_of_games() -> None:
    """The second text, computed by hand: mean 0.4875, sum of squared deviations 1.184375, variance (that + 0.25) / 21.

    A game's deviation is then 0.3696, that of the mean 0.05844.
    """
    many = [0.0] * 20 + [0.25] * 60 + [0.5] * 140 + [0.75] * 160 + [1.0] * 20
    assert elo.normalized_elo(many) == pytest.approx((64.91, 24.08), abs=0.01)
    few = [0.0] * 2 + [0.25] * 3 + [0.5] * 10 + [0.75] * 4 + [1.0]
    assert pairs_text("A", few) == "pairs of A: 2-3-10-4-1, normalized Elo -12 (-119 to +96), LOS 41.5 %"
    assert elo.superiority([0.5] * 20) == 0.5


RANGES = {"Base": (300, 0, 1000), "Move": (5, 0, 9)}


def test_tuning_moves_towards_the_winner_within_the_range() -> None:
    tuning = Tuning({"Base": 100.0, "Move": 2.0}, RANGES, 100, 1)
    before = dict(tuning.values)
    _pair, shift, raised, lowered = tuning.perturbed(0)
    assert all(raised[name] != lowered[name] for name in before)
    tuning.learn(0, shift, 2.0)
    assert all((tuning.values[name] - before[name]) * shift[name] > 0 for name in before)
    for pair in range(1, 3000):
        tuning.learn(pair, {"Base": -500.0, "Move": -50.0}, 2.0)
    assert tuning.values == {"Base": 0.0, "Move": 0.0} and tuning.text() == "Base=0 Move=0"


def test_tuning_plays_its_pairs_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both sides resign with Black, so nothing is learned. Each side gets its own value."""
    engine, kept = f"A={shlex.join(scripted(tmp_path / 'A'))}", tmp_path / "kept"
    words = [engine, "--nodes", "5", "--tune", "MultiPV=2", "--option", "MultiPV=5", "--keep", str(kept)]
    for games, pairs, processes in (("6", 3, "2"), ("10", 5, "1"), ("10", 5, "1")):
        assert command.main([*words, "--games", games, "--concurrency", processes]) == 0
        shown = capsys.readouterr()
        assert shown.out == "MultiPV=5\n" and "\n\n" not in f"\n{shown.err}"
        rows = KeptRows(kept / "pairs.jsonl").rows[1:]
        assert sorted(row["pair"] for row in rows) == [*range(pairs)] and not any(row["balance"] for row in rows)
    lines = (tmp_path / "A").read_text(encoding="utf-8").splitlines()
    values = [int(line.split()[-1]) for line in lines if line.startswith("setoption name MultiPV")]
    assert min(values) < 5 < max(values) and set(values) <= {*range(1, 10)}


@pytest.mark.parametrize(
    ("tune", "text"),
    [
        ("None=1", "--tune None: A declares no such number"),
        ("Style=1", "--tune Style: A declares no such number"),
        ("MultiPV=9", "--tune MultiPV: the step must be from 0 to 8, not 9"),
    ],
)
def test_an_option_that_cannot_be_tuned_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tune: str, text: str
) -> None:
    engine = f"A={shlex.join(scripted(tmp_path / 'A'))}"
    assert command.main([engine, "--nodes", "5", "--tune", tune, "--keep", str(tmp_path / "kept")]) == 2
    assert text in capsys.readouterr().err and not (tmp_path / "kept").exists()
