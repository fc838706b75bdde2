"""Names of files are printed with their control characters escaped: a terminal would carry them out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.records.common import RECORDS
from usi_engine.analysis.analyze import main as analyze
from usi_engine.book_tool.command import main as book
from usi_engine.learn.command import main as learn
from usi_engine.records.convert import main as convert

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
