"""Half a minute of fuzzing with a fixed seed and two games of the soak; the slow tests take a fresh seed, `make fuzz`
and `make soak` go on.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.__main__ import option_files
from tests.fuzz.conversation import fuzz_usi
from tests.fuzz.soak import soak, summary

SECONDS = 15.0  # of each test
CLOCK_SHARE = 0.1  # of the usual times of the soak
FIXED = 20261122
FRESH = random.SystemRandom().randrange(1 << 32)  # a failure names its seed
SEEDS = [pytest.param(FIXED, id="fixed"), pytest.param(FRESH, id="fresh", marks=pytest.mark.slow)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_conversations(seed: int, tmp_path: Path) -> None:
    """Every go has one answer, every move is legal, the program lives and says nothing to its error stream."""
    assert fuzz_usi(seed, SECONDS, option_files(tmp_path, random.Random(seed))) > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_readers(seed: int) -> None:
    """Every reader gives a value or an error of its own; in a process of its own, so that its end is a failure too."""
    command = [sys.executable, "-m", "tests.fuzz", "--readers", "--seconds", str(SECONDS), "--seed", str(seed)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"ended with {run.returncode}:\n{run.stdout}{run.stderr}"
    assert "files and texts" in run.stdout


def test_soak(tmp_path: Path) -> None:
    """A log that is cut off in its last line goes on; every game is played to its end by the same two programs."""
    log = tmp_path / "soak.jsonl"
    assert len(soak(log, 1, CLOCK_SHARE)) == 1
    log.write_bytes(log.read_bytes() + b'{"game": 2, "opt')
    games = soak(log, 2, CLOCK_SHARE)
    assert [game["game"] for game in games] == [1, 2]
    assert all(game["ending"] and game["plies"] > 4 for game in games)
    assert summary(games).startswith("2 games")
