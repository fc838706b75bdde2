"""What all commands share: the end by Ctrl-C, names of files with control characters, long runs."""

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.programs import interrupted
from tests.records.common import RECORDS
from usi_engine.analysis.analyze import main as analyze
from usi_engine.book_tool.command import main as book
from usi_engine.files import KeptRows, OtherRowsError
from usi_engine.learn.command import main as learn
from usi_engine.progress import Progress
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


# ---- rows of JSON that a later run continues; progress ----

DAMAGED = b"\xff\n[1\n" + b"[" * 100_000 + b'\nnull\n{"a": 1'


@pytest.mark.parametrize("conditions", [None, {"nodes": 5}])
def test_rows_are_kept(tmp_path: Path, conditions: dict[str, Any] | None) -> None:
    """Damaged lines are no rows, and one that was cut off does not damage the next."""
    path = tmp_path / "folder" / "rows.jsonl"
    path.parent.mkdir()
    KeptRows(path, conditions).add([1, "é"])
    for row in ({"b": 2.5}, [3]):
        with path.open("ab") as file:
            file.write(DAMAGED)
        KeptRows(path, conditions).add(row)
    assert KeptRows(path, conditions).rows == [[1, "é"], {"b": 2.5}, [3]]


@pytest.mark.parametrize(("data", "is_kept"), [(b'{"nodes": 6}\n[1]\n', True), (b"notes", False), (b"7\n", False)])
def test_other_files_stay(tmp_path: Path, data: bytes, is_kept: bool) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    with pytest.raises(OtherRowsError) as raised:
        KeptRows(path, {"nodes": 5})
    assert (raised.value.conditions is not None) == is_kept and path.read_bytes() == data


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("game.kif", 3, every=0) as progress:
        for _ in range(3):
            progress.add()
    assert ("game.kif" in stream.getvalue()) == terminal


def test_a_log_has_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of earlier runs are in the count, not in the rate."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("games", 40, 10, every=1e-9) as progress:
        progress.add(2, 100, "a note")
    assert stream.getvalue().startswith("12/40 games, 100 positions, ")
    assert progress.line(10) == "12/40 games, 100 positions, 10 a second, 2.3 min left"
    progress = Progress("positions")
    progress.add(5)
    assert progress.line(10, "a note") == "5 positions, 0.5 a second, a note"
