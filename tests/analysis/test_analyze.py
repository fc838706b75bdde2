"""`usi_engine analyze`: text, KIF, HTML, resuming, Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import MATE
from tests.positions import MATE_IN_ONE, MATED
from tests.programs import INTERRUPTIBLE
from tests.records.common import FAST, MOVES, RECORDS, game_of, valued
from usi_engine.__main__ import TOOLS
from usi_engine.analysis.analyst import Analyst
from usi_engine.analysis.analyze import main
from usi_engine.analysis.judgement import Evaluated
from usi_engine.analysis.kif import kif_text
from usi_engine.analysis.limits import Limits
from usi_engine.analysis.page import page_text
from usi_engine.analysis.report import AnalysedGame, analysed, lines_of
from usi_engine.analysis.store import Store, store_path

ROOT = Path(__file__).resolve().parents[2]
GAME = RECORDS / "game.kif"
QUICK = ["--nodes", "300", "--hash", "1", "--eval", "material"]

pytestmark = pytest.mark.usefixtures("cache_folder")


@pytest.fixture
def analyst() -> Analyst:
    return Analyst(FAST)


@pytest.fixture
def judged() -> AnalysedGame:
    """The first three moves of a game: the third loses 31 points, after which White mates in 5."""
    game = game_of(GAME)
    values = [valued(50, "7g7f"), valued(-60, "8c8d"), valued(40, "2g2f", "8d8e")]
    later = [valued(MATE - 5 if ply % 2 else 5 - MATE, mate=5 if ply % 2 else -5) for ply in range(3, 21)]
    return analysed(game, [*values, *later])


# ---- the search ----


def test_results_do_not_depend_on_the_order(analyst: Analyst) -> None:
    board = Board()
    first = analyst.evaluate(board)
    board.push("7g7f")
    analyst.evaluate(board)
    board.pop()
    again = analyst.evaluate(board)
    assert (first.value, first.pv, first.depth, first.nodes) == (again.value, again.pv, again.depth, again.nodes)
    assert 0 < first.nodes <= 600


def test_mates_and_ended_games(analyst: Analyst) -> None:
    result = analyst.evaluate(Board(MATE_IN_ONE))
    assert (result.mate, result.pv) == (1, ("G*5b",))
    assert analyst.evaluate(Board(MATED)) == Evaluated(-MATE, 0, 0, 0, 0, ())
    board = Board.from_moves(["2h3h", "8b7b", "3h2h", "7b8b"] * 3)
    assert analyst.evaluate(board) == Evaluated(0, None, 0, 0, 0, ())


# ---- outputs ----


def test_text(judged: AnalysedGame) -> None:
    lines = list(lines_of(judged))
    assert lines[0].endswith("game.kif: 駒鳥 - 太郎, 20 moves")
    assert lines[3].split() == ["0", "+50", "52", "%", "start"]
    assert lines[4].split() == ["1", "+60", "52", "%", "▲７六歩", "▲７六歩"]
    assert lines[6].split() == ["3", "mate", "-5", "0", "%", "52", "▲７七角", "blunder", "▲２六歩", "△８五歩"]
    assert lines[-2].split()[:3] == ["Black", "10", "1"]
    start = replace(judged.game, moves=())
    lines = list(lines_of(analysed(start, [valued(50, "7g7f", "3c3d")])))
    assert lines[3].split() == ["0", "+50", "52", "%", "start", "▲７六歩", "△３四歩"]


# The patterns that the GUIs' readers look for in a comment line, after the star of KIF.
SHOGIHOME_VALUE = re.compile(r"^#評価値=([+-]?[0-9]+)")
SHOGIHOME_MATE = re.compile(r"^#詰み=(先手勝ち|後手勝ち)(?::([0-9]+)手)?")
SHOGIGUI = re.compile(
    r"^\*解析 0( ○)? 候補1 時間 \d\d:\d\d\.\d 深さ (\d+) ノード数 (\d+) 評価値 (\S+(?: \d+)?)(?: 読み筋 (.+))?$"
)


def test_kif_has_values_for_both_readers(judged: AnalysedGame, tmp_path: Path) -> None:
    path = tmp_path / "out.kifu"
    path.write_text(kif_text(judged), encoding="utf-8")
    assert game_of(path).moves == game_of(GAME).moves
    lines = [line[1:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("*")]
    assert lines[:2] == ["自己対局の棋譜。", "*Engines 0 Komadori"]
    shogigui = [found for found in map(SHOGIGUI.match, lines) if found]
    values = [found[1] for found in map(SHOGIHOME_VALUE.match, lines) if found]
    mates = [found.groups() for found in map(SHOGIHOME_MATE.match, lines) if found]
    assert [found[4] for found in shogigui[:4]] == ["50", "60", "40", "-詰 5"]
    assert [found[5] for found in shogigui[:3]] == ["▲７六歩(77)", "△８四歩(83)", "▲２六歩(27) △８五歩(84)"]
    assert [bool(found[1]) for found in shogigui[:4]] == [False, True, True, False]
    assert values == ["50", "60", "40"]
    assert mates == [("後手勝ち", "5")] * 18
    assert "【大悪手】勝率 -52%" in lines
    assert kif_text(analysed(game_of(path), judged.evaluated)) == kif_text(judged)  # the earlier analysis is replaced


def page_json(text: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


def test_page(judged: AnalysedGame) -> None:
    text = page_text(judged, "300 nodes")
    data = page_json(text)
    assert data["title"] == "☗ 駒鳥 - ☖ 太郎"
    assert [position["value"] for position in data["positions"][:4]] == ["+50", "+60", "+40", "mate -5"]
    assert data["positions"][3]["grade"] == "blunder"
    assert [move["text"] for move in data["positions"][2]["line"]] == ["▲２六歩", "△８五歩"]
    assert len(data["positions"]) == 21
    outside = re.findall(r"https?://[^\"' ]+|src=|href=|@import|url\(", text)
    assert outside == ["http://www.w3.org/2000/svg"]  # the name of SVG, which nothing loads
    # A name cannot end the script that has the data.
    judged.game.record.header["先手"] = "</script><b>"
    assert page_json(page_text(judged, ""))["title"].startswith("☗ </script><b>")


# ---- the store ----


def test_store_keeps_and_skips_damaged_lines(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.jsonl"
    Store(path).put(3, valued(12, "7g7f"))
    with path.open("a", encoding="utf-8") as file:
        file.write('nonsense\n[4]\n[5, {"value": 1}]\n[6, {"value": 1, "mate": null, "depth": 1')
    store = Store(path)
    assert store.get(3) == valued(12, "7g7f")
    assert [store.get(ply) for ply in (4, 5, 6)] == [None] * 3
    assert Store(path, anew=True).get(3) is None
    assert Store(path).get(3) is None


def test_store_depends_on_game_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, other = game_of(GAME), game_of(RECORDS / "handicap.kif")
    paths = [store_path(game, FAST), store_path(other, FAST), store_path(game, Limits())]
    assert len(set(paths)) == 3
    assert store_path(game_of(RECORDS / "game.csa"), FAST) == paths[0]
    network = tmp_path / "nn.bin"
    network.write_bytes(b"one")
    own = Limits(evaluation=str(tmp_path))
    before = store_path(game, own)
    network.write_bytes(b"another")
    assert store_path(game, own) != before
    monkeypatch.setenv("KOMADORI_CACHE", "")
    assert store_path(game, FAST) is None


# ---- the command ----


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kif, html = tmp_path / "棋譜 out.kif", tmp_path / "out.html"
    assert main([str(GAME), "--kif", str(kif), "--html", str(html), *QUICK]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"^ +\d+ .* % .*[▲△]", printed, re.M)) == 20
    assert list(game_of(kif).moves) == MOVES
    assert "Engines 0" in kif.read_bytes().decode("cp932")
    assert len(page_json(html.read_text(encoding="utf-8"))["positions"]) == 21
    (tmp_path / "folder" / "game.kif").mkdir(parents=True)
    again = tmp_path / "again.html"
    assert main([str(GAME), "--kif", str(tmp_path / "folder"), "--html", str(again), *QUICK]) == 1
    assert f"{GAME}: " in capsys.readouterr().err
    assert again.read_bytes() == html.read_bytes()


def test_faults_do_not_stop_the_other_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["broken.kif", "games.csa", "illegal.csa"]
    assert main([*(str(RECORDS / name) for name in names), "--html", str(tmp_path / "pages"), *QUICK]) == 1
    printed = capsys.readouterr()
    assert "broken.kif, line 15, move 7: not a move" in printed.err
    assert "illegal.csa, line 22, move 7: illegal move" in printed.err
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["games-1.html", "games-2.html"]
    assert main([str(GAME), "--eval", "none.kpp"]) == 2
    assert "none.kpp" in capsys.readouterr().err


class Counted:
    """Counts the calls of Analyst.evaluate; Ctrl-C comes at the call after `last`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, last: int) -> None:
        self.plies: list[int] = []
        evaluate = Analyst.evaluate

        def counted(analyst: Analyst, board: Board) -> Evaluated:
            if len(self.plies) == last:
                raise KeyboardInterrupt
            self.plies.append(board.ply)
            return evaluate(analyst, board)

        monkeypatch.setattr(Analyst, "evaluate", counted)


def test_a_stopped_run_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as interrupted:
        first = Counted(interrupted, 7)
        assert main([str(GAME), *QUICK]) == 130
    assert "without --again the same command goes on from here" in capsys.readouterr().err
    second = Counted(monkeypatch, 100)
    assert main([str(GAME), *QUICK]) == 0
    assert first.plies + second.plies == list(range(1, 22))
    resumed = capsys.readouterr().out
    assert main([str(GAME), *QUICK]) == 0
    assert len(second.plies) == 14
    assert capsys.readouterr().out == resumed
    assert main([str(GAME), "--again", *QUICK]) == 0
    assert len(second.plies) == 14 + 21
    assert capsys.readouterr().out == resumed


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_a_long_search(cache_folder: Path) -> None:
    words = [*INTERRUPTIBLE, "analyze", str(GAME), "--seconds", "100", "--eval", "material"]
    environment = os.environ | {"KOMADORI_CACHE": str(cache_folder)}
    program = subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    for _ in range(300):  # until it is searching: the folder of the store is made before
        if (cache_folder / "analysis").is_dir():
            break
        time.sleep(0.1)
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=20)
    assert program.returncode == 130
    assert errors.splitlines()[-1].startswith("stopped; ")
    assert "Traceback" not in errors


def test_play_imports_none_of_these() -> None:
    names = "{'rsshogi', 'rich', 'numpy', 'platformdirs', 'usi_engine.analysis', 'usi_engine.records'}"
    code = f"import sys, usi_engine.__main__; print([*{names} & set(sys.modules)])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_commands_need_no_numpy() -> None:
    """The folder without Python has neither of these libraries."""
    code = f"import sys; sys.modules |= {{'numpy': None, 'rsshogi': None}}; import {', '.join(TOOLS.values())}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
