"""Half a minute of fuzzing with a fixed and a fresh seed: `make fuzz` goes on for hours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.__main__ import option_files
from tests.fuzz.conversation import fuzz_usi
from tests.fuzz.readers import fuzz_readers

SECONDS = 12.0
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
