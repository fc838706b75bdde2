"""A few seconds of fuzzing with a fixed seed and two games of the soak; the slow tests take a fresh seed."""

import random
import sys
from pathlib import Path

import pytest

from core_ext._probe import fail_allocation
from core_ext.board import Board
from tests.fuzz.__main__ import option_files
from tests.fuzz.conversation import fuzz_usi
from tests.fuzz.coverage import read_corpus
from tests.fuzz.soak import soak, summary
from tests.fuzz.targets import TARGETS
from tests.programs import run_command

FRESH = random.SystemRandom().randrange(1 << 32)  # a failure names its seed
RUNS = [pytest.param(20261122, 2.0, id="fixed"), pytest.param(FRESH, 20.0, id="fresh", marks=pytest.mark.slow)]


@pytest.mark.parametrize(("seed", "seconds"), RUNS)
def test_conversations(seed: int, seconds: float, tmp_path: Path) -> None:
    """Every go has one answer, every move is legal, and nothing appears on stderr."""
    assert fuzz_usi(seed, seconds, option_files(tmp_path, random.Random(seed))) > 0


@pytest.mark.parametrize(("seed", "seconds"), RUNS)
def test_readers(seed: int, seconds: float) -> None:
    """Every reader returns a value or raises an error of its own; another process, because a crash is a failure too."""
    command = [sys.executable, "-m", "tests.fuzz", "--readers", "--seconds", str(seconds), "--seed", str(seed)]
    done = run_command(command)
    assert done.returncode == 0, f"ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    assert "files and texts" in done.stdout


@pytest.mark.parametrize("reader", TARGETS)
def test_kept_corpus(reader: str) -> None:
    kept = [data for _, data in read_corpus(reader)]
    assert kept
    for data in kept:
        TARGETS[reader](data)


GUARDS = {"misuse": ["--seconds", "2", "--seed", "20261127"]}
Board()
if fail_allocation(0):  # a debug build, which counts allocations
    GUARDS["allocations"] = ["--step", "20"]


@pytest.mark.parametrize("guard", GUARDS)
def test_guards_of_the_core(guard: str) -> None:
    """Another process, because a crash is a failure too."""
    command = [sys.executable, "-m", f"tests.fuzz.{guard}", *GUARDS[guard]]
    done = run_command(command)
    assert done.returncode == 0, f"ended with {done.returncode}:\n{done.stdout}{done.stderr}"


def test_soak(tmp_path: Path) -> None:
    """A log with an incomplete last line is continued."""
    log, clock_share = tmp_path / "soak.jsonl", 0.1
    assert len(soak(log, 1, clock_share)) == 1
    log.write_bytes(log.read_bytes() + b'{"game": 2, "opt')
    games = soak(log, 2, clock_share)
    assert [game["game"] for game in games] == [1, 2]
    assert all(game["ending"] and game["moves"] for game in games)
    assert summary(games).startswith("2 games")
