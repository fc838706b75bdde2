"""Openings from the engine's own play."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.strength import openings
from core_ext.board import Board
from tests.bench.helpers import run
from usi_engine.evaluation.names import WeightsError


def made(file: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """Write a small file; return its lines."""
    small = ["--count", "3", "--plies", "6", "--nodes", "40", "--check-nodes", "60", "--weights", "material"]
    run(openings, monkeypatch, str(file), *small, *arguments)
    return file.read_text(encoding="utf-8").splitlines()


def test_lines_repeat_and_follow_the_seed(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(tmp_path / "one", monkeypatch)
    assert len(set(first)) == 3
    assert first == made(tmp_path / "two", monkeypatch)
    assert first != made(tmp_path / "three", monkeypatch, "--seed", "2")
    with pytest.raises(WeightsError, match="nofile"):
        run(openings, monkeypatch, str(tmp_path / "one"), "--weights", str(tmp_path / "nofile.bin"))
    assert (tmp_path / "one").read_text(encoding="utf-8").splitlines() == first
    for move in first[0].removeprefix("startpos moves ").split():
        board.push(move)
    assert board.ply == 7
