"""Openings from the engine's own play."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.strength import openings
from core_ext.board import Board
from usi_engine.evaluation.names import MATERIAL


def made(file: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """Write a small file; return its lines."""
    small = ["--count", "3", "--plies", "6", "--nodes", "40", "--check-nodes", "60", "--weights", MATERIAL]
    monkeypatch.setattr("sys.argv", ["openings", str(file), *small, *arguments])
    openings.main()
    return file.read_text(encoding="utf-8").splitlines()


def test_lines_repeat_and_follow_the_seed(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(tmp_path / "one", monkeypatch)
    assert len(set(first)) == 3
    assert first == made(tmp_path / "two", monkeypatch)
    assert first != made(tmp_path / "three", monkeypatch, "--seed", "2")
    for move in first[0].removeprefix("startpos moves ").split():
        board.push(move)
    assert board.ply == 7
