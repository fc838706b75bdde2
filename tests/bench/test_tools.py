"""Openings, the signature, punctuality, and the command line of every bench."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from bench import signature
from bench.__main__ import benches
from bench.speed import punctuality
from bench.strength import openings
from core_ext.board import Board
from tests.bench.helpers import run
from tests.programs import run_command
from usi_engine.clock import TimeControl
from usi_engine.evaluation.names import WeightsError
from usi_engine.match.runs import OPENINGS
from usi_engine.records.games import opening_boards
from usi_engine.usi.process import EngineProcess, own_engine


@pytest.mark.parametrize("name", [name for name, _ in benches()])
def test_every_bench_starts(name: str) -> None:
    assert run_command([sys.executable, "-m", name, "--help"]).stdout.startswith("usage:")


def test_openings_are_legal_and_end_in_different_positions() -> None:
    lines = OPENINGS.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 400
    assert all(len(line.removeprefix("startpos moves ").split()) == 24 for line in lines)
    assert len({board.key for board in opening_boards(OPENINGS)}) == len(lines)


def test_new_openings_repeat_and_follow_the_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str, *arguments: str) -> list[str]:
        small = ["--count", "3", "--plies", "6", "--nodes", "40", "--check-nodes", "60", "--weights", "material"]
        run(openings, monkeypatch, str(tmp_path / name), *small, *arguments)
        return (tmp_path / name).read_text(encoding="utf-8").splitlines()

    first = made("one")
    assert len(set(first)) == 3 and made("two") == first != made("three", "--seed", "2")
    with pytest.raises(WeightsError, match="nofile"):
        made("one", "--weights", str(tmp_path / "nofile.bin"))
    assert (tmp_path / "one").read_text(encoding="utf-8").splitlines() == first
    assert Board.from_moves(first[0].removeprefix("startpos moves ").split()).ply == 7


@pytest.mark.parametrize("now, expected", [(45, 0), (46, 1)])
def test_the_signature_is_compared_with_the_latest_line_of_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], now: int, expected: int
) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(signature, "ROOT", tmp_path)
    assert signature.committed() is None
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for message in ("One\n\nBench: 123", "Two\n\nBench: 45", "No functional change", "On the Bench: 7 of it"):
        commit = ["git", *author, "commit", "--quiet", "--allow-empty", "-m", message]
        subprocess.run(commit, cwd=tmp_path, check=True)
    monkeypatch.setattr(signature, "recounted", lambda: now)
    assert run(signature, monkeypatch, "--check") == expected
    assert f"signature {now}, in the history: 45" in capsys.readouterr().out


def test_answers_are_measured_against_their_clock() -> None:
    """The time left decreases by the time used and increases by the increment. An answer at the flag is not late."""
    clock = TimeControl(1000, 0, 200)
    engine = EngineProcess(own_engine(), punctuality.OPTIONS | {"EvalFile": "material"})
    engine.prepare()
    taken = list(itertools.islice(punctuality.answers(engine, clock), 3))
    engine.quit()
    assert [answer.allowed for answer in taken[:2]] == [1000, 1000]
    assert taken[2].allowed == 1000 - int(taken[0].used) + 200
    assert punctuality.row(clock, taken)[:2] == ["1 s + 0.2 s a move", "3"]
    answers = [punctuality.Answer(100.0, 100), punctuality.Answer(101.0, 100)]
    assert punctuality.row(TimeControl(0, 100), answers)[-2:] == ["-1", "1"]
