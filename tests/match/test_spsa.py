"""Tuning of options by games."""

import shlex
from pathlib import Path

import pytest

from tests.scripted_engine import scripted
from usi_engine.files import KeptRows
from usi_engine.match import command
from usi_engine.match.spsa import Tuning

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
