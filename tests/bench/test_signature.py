"""Comparison of the signature with the history."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench import signature
from tests.bench.helpers import run


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty repository and use it instead of this one."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(signature, "ROOT", tmp_path)
    return tmp_path


def commit(folder: Path, message: str) -> None:
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *author, "commit", "--quiet", "--allow-empty", "-m", message], cwd=folder, check=True)


def test_the_latest_line_counts(history: Path) -> None:
    assert signature.committed() is None
    for message in ("One\n\nBench: 123", "Two\n\nBench: 45", "No functional change", "On the Bench: 7 of it"):
        commit(history, message)
    assert signature.committed() == 45


@pytest.mark.parametrize("now, expected", [(45, 0), (46, 1)])
def test_check_fails_if_the_counts_differ(
    history: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], now: int, expected: int
) -> None:
    commit(history, "One\n\nBench: 45")
    monkeypatch.setattr(signature, "recounted", lambda: now)
    assert run(signature, monkeypatch, "--check") == expected
    assert f"signature {now}, in the history: 45" in capsys.readouterr().out
