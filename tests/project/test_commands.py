"""What all commands share: the end by Ctrl-C, names of files with control characters."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs import interrupted
from tests.records.common import RECORDS
from usi_engine.analysis.analyze import main as analyze
from usi_engine.book_tool.command import main as book
from usi_engine.learn.command import main as learn
from usi_engine.records.convert import main as convert

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
        ("match/usi_engine/B=usi_engine/--movetime/9999/--keep/KEEP", "games.jsonl", "games and page: ", "stopped; "),
    ],
)
def test_ctrl_c(words: str, begun: str, printed: str, error: str, tmp_path: Path) -> None:
    """`begun` is printed, or names a file or folder that is made, when the work begins."""
    names = {"GAME": str(RECORDS / "game.kif"), "OUT": str(tmp_path / "book.db"), "KEEP": str(tmp_path / "kept")}

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


QUICK = ["--nodes", "10", "--hash", "1", "--eval", "material"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
@pytest.mark.parametrize(
    ("command", "words"),
    [(analyze, [*QUICK, "--kif"]), (convert, ["--to", "csa", "--out"]), (book, ["--min-games", "1", "--out"])],
)
def test_names_of_files(
    command: Callable[[list[str]], int], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = tmp_path / "clear\x1b[2J.kifu", tmp_path / "out\x1b[2J.db"
    shutil.copy(RECORDS / "variations.kifu", game)
    if command is analyze:
        out.mkdir()
    first = ["build"] if command is book else []
    command([*first, str(game), str(tmp_path / "none\x1b[2J.kif"), *words, str(out)])
    printed = "".join(capsys.readouterr())
    assert "none\\x1b[2J.kif" in printed and "\x1b" not in printed


def test_lines_of_training_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.tsv"
    games.write_text("a\x1b[2Jb\n", encoding="utf-8")
    assert learn(["export", str(games), "--out", str(tmp_path / "out.psv")]) == 2
    printed = capsys.readouterr().err
    assert "a\\x1b[2Jb" in printed and "\x1b" not in printed
