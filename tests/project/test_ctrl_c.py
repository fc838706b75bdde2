"""Ctrl-C ends each command with the status 130 and one line at most, while it searches or waits for a person."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.programs import interrupted
from tests.records.common import RECORDS

SEARCH = "setoption name USI_OwnBook value false/setoption name EvalFile value material"
LONG = "--seconds/100/--eval/material"


@pytest.mark.skipif(os.name == "nt", reason="sends Ctrl-C as Unix does")
@pytest.mark.usefixtures("cache_folder")
@pytest.mark.parametrize(
    ("words", "begun", "printed", "error"),
    [
        (f"{SEARCH}/go", "info depth", "bestmove ", ""),
        (f"{SEARCH}/go btime 3600000", "info depth", "bestmove ", ""),
        ("play/--eval/material/--side/black", "Player", "", ""),
        ("play/--side/white/--level/20/" + LONG, "Player", "", ""),
        (f"analyze/GAME/{LONG}", "analysis", "", "stopped; "),
        (f"book/build/--out/OUT/{LONG}", "*.journal", "", "stopped; "),
    ],
)
def test_ctrl_c(words: str, begun: str, printed: str, error: str, tmp_path: Path) -> None:
    """`begun` is printed, or names a file or folder that is made, when the work begins."""
    names = {"GAME": str(RECORDS / "game.kif"), "OUT": str(tmp_path / "book.db")}

    def until(started: subprocess.Popen[str]) -> None:
        assert started.stdout is not None
        if error:
            while not list(tmp_path.rglob(begun)):
                assert started.poll() is None
                time.sleep(0.05)
            time.sleep(0.3)
        else:
            seen = b""
            while begun.encode() not in seen:
                assert started.poll() is None
                seen += os.read(started.stdout.fileno(), 1000)

    status, output, errors = interrupted([names.get(word, word) for word in words.split("/")], until)
    assert status == 130 and errors.count("\n") == bool(error), errors
    assert (output.splitlines() or [""])[-1].startswith(printed)
    assert errors.startswith(error)
