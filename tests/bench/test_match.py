"""Matches with cshogi's runner: read the clock, keep games, resume a match."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import ROOT

pytest.importorskip("cshogi", reason="the runner has no wheel here")
pytest.importorskip("rsshogi", reason="it writes KIF")

from bench.strength import match


@pytest.mark.parametrize(
    ("text", "limits"),
    [("10", {"time": [10000]}), ("10+0.1", {"time": [10000], "inc": [100]}), ("0/0.1", {"byoyomi": [100]}),
     ("60/1", {"time": [60000], "byoyomi": [1000]})],
)  # fmt: skip
def test_a_clock_is_read(text: str, limits: dict[str, list[int]]) -> None:
    assert match.clock(text) == limits


@pytest.mark.parametrize("text", ["", "0", "ten", "1..2", "-1", "10/", "10+0.1+1"])
def test_a_wrong_clock_is_quoted(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f"'{text}' is not MAIN")):
        match.clock(text)


@pytest.mark.skipif(sys.platform == "win32", reason="the engine is a shell script")
def test_an_engine_of_any_name_plays_on_one_thread_without_a_book(tmp_path: Path) -> None:
    engine = this_engine(tmp_path / "other-build")
    assert match.options("MultiPV:2", engine) == {"Threads": "1", "USI_OwnBook": "false", "MultiPV": "2"}
    assert match.options("Threads:2", engine)["Threads"] == "2"
    with pytest.raises(SystemExit, match="'Threads=2' is not NAME:VALUE"):
        match.options("Threads=2", engine)


def this_engine(path: Path) -> str:
    """Write a program that starts this engine."""
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m usi_engine "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def play(folder: Path, games: int, clock: str = "0/0.02") -> subprocess.CompletedProcess[str]:
    """Play the engine with piece values against itself; games are drawn two plies after the opening."""
    engine = this_engine(folder / "usi_engine")
    command = [sys.executable, "-m", "bench.strength.match", engine, engine, "--name1", "A", "--name2", "B"]
    command += ["--draw", "26", "--clock", clock, "--games", str(games), "--keep", str(folder / "kept")]
    command += [f"--options{number}=EvalFile:material,USI_Hash:1" for number in "12"]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="the engine is a shell script")
def test_a_match_is_kept_and_continued(tmp_path: Path) -> None:
    first = play(tmp_path, 2)
    assert first.returncode == 0, first.stderr
    assert "A - B: +0 =2 -0 of 2, score 50.0 %" in first.stdout
    kept = tmp_path / "kept"
    pair = (kept / "pair-0001.csa").read_bytes()
    (kept / "pair-0002.csa").write_text("V2\nof an interrupted pair\n", encoding="ascii")
    second = play(tmp_path, 4)
    assert second.stdout.startswith(f"2 games are kept in {kept}")
    assert "A - B: +0 =4 -0 of 4, score 50.0 %" in second.stdout
    assert second.stdout.count("start.") == 2
    assert (kept / "pair-0001.csa").read_bytes() == pair
    assert len(list(kept.glob("*.kif"))) == 4
    assert json.loads((kept / "figures.json").read_text(encoding="utf-8"))["summary"]["games"] == 4
    other = play(tmp_path, 4, clock="0/0.03")
    assert other.returncode == 1
    assert other.stderr.strip() == f"{kept} holds a match under other conditions: name another folder"
