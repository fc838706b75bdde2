"""Two minutes of fuzzing with a fixed and a fresh seed, two games of the soak: `make fuzz` and `make soak` go on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.__main__ import option_files
from tests.fuzz.conversation import fuzz_usi
from tests.fuzz.readers import fuzz_readers
from tests.fuzz.soak import soak, summary

SECONDS = 30.0  # of each of the four tests
CLOCK_SHARE = 0.1  # of the usual times of the soak
FIXED = 20261122
SEEDS = {"fixed": FIXED, "fresh": random.SystemRandom().randrange(1 << 32)}  # a failure names its seed


@pytest.mark.parametrize("kind", SEEDS)
def test_conversations(kind: str, tmp_path: Path) -> None:
    """Every go has one answer, every move is legal, the program lives and says nothing to its error stream."""
    assert fuzz_usi(SEEDS[kind], SECONDS, option_files(tmp_path, random.Random(SEEDS[kind]))) > 0


@pytest.mark.parametrize("kind", SEEDS)
def test_readers(kind: str) -> None:
    """Every reader gives a value or an error of its own."""
    assert sum(fuzz_readers(SEEDS[kind], SECONDS).values()) > 0


def test_soak(tmp_path: Path) -> None:
    """A log that is cut off in its last line goes on; every game is played to its end by the same two programs."""
    log = tmp_path / "soak.jsonl"
    assert len(soak(log, 1, CLOCK_SHARE)) == 1
    log.write_bytes(log.read_bytes() + b'{"game": 2, "opt')
    games = soak(log, 2, CLOCK_SHARE)
    assert [game["game"] for game in games] == [1, 2]
    assert all(game["ending"] and game["plies"] > 4 for game in games)
    assert summary(games).startswith("2 games")
