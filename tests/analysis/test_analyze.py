"""`usi_engine analyze`: text, KIF, HTML, resuming; kept results, damaged files, files that are none."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import MATE
from tests.positions import MATE_IN_ONE, MATED
from tests.records.common import (
    FAST,
    MOVES,
    QUICK,
    RECORDS,
    Searches,
    game_of,
    japanese,
    page_json,
    three_moves,
    valued,
    with_values,
)
from usi_engine.analysis.analyst import SHOWN, Analyst, Limits, Store, store_path
from usi_engine.analysis.analyze import main
from usi_engine.analysis.kif import kif_text, with_comment
from usi_engine.analysis.terminal import format_lines, print_game
from usi_engine.columns import cells
from usi_engine.records.games import Game
from usi_engine.search.results import Limit, Score

GAME = RECORDS / "game.kif"

pytestmark = pytest.mark.usefixtures("cache_folder")


@pytest.fixture
def analyst() -> Analyst:
    return Analyst(FAST)


@pytest.fixture
def judged() -> Game:
    return three_moves()


# ---- the search ----


def test_results_do_not_depend_on_the_order(analyst: Analyst) -> None:
    board = Board()
    first = analyst.evaluate(board)
    board.push("7g7f")
    analyst.evaluate(board)
    board.pop()
    again = analyst.evaluate(board)
    assert replace(first, time=0) == replace(again, time=0)
    assert 0 < first.nodes <= 600


def test_mates_and_ended_games(analyst: Analyst) -> None:
    result = analyst.evaluate(Board(MATE_IN_ONE))
    assert (result.score.mate, result.pv) == (1, ("G*5b",))
    mated = analyst.evaluate(Board(MATED))
    assert (mated.score.value, mated.score.mate, mated.lines) == (-MATE, 0, ())
    board = Board.from_moves(["2h3h", "8b7b", "3h2h", "7b8b"] * 3)
    drawn = analyst.evaluate(board)
    assert (drawn.score.value, drawn.score.mate, drawn.lines) == (0, None, ())


def test_a_pass_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, page = tmp_path / "a.usi", tmp_path / "a.html"
    source.write_text("startpos moves 7g7f 3c3d pass 2b8h+ 7i8h\n", encoding="utf-8")
    assert main([str(source), "--puzzles", "--html", str(page), *QUICK]) == 0
    assert "▲pass" in capsys.readouterr().out and page.read_text(encoding="utf-8").count('"usi":null') == 2


@pytest.mark.parametrize(("text", "words"), [
    ("6B2/7Rl/6S2/7GB/8k/8N/9/9/9 b r3g3s3n3l18p 1 moves 2b1b+", ["mate 9", "blunder", "Missed mate in 9."]),
    ("1+P+P+P+P+P+P+P1/2+B+BK+R+R2/2+P+P5/9/9/9/9/4k4/9 b 4G4S4N4L9P 1 moves P*5e",
     ["+20000", "Black wins by declaration", "+20000", "Black wins by declaration"]),
])  # fmt: skip
def test_mates_and_declarations_are_found(
    text: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mate solver is asked first; a declaration is said one ply before too."""
    source = tmp_path / "a.usi"
    source.write_text(f"sfen {text}\n", encoding="utf-8")
    assert main([str(source), "--nodes", "20000", *QUICK[2:]]) == 0
    assert re.search(".*".join(map(re.escape, words)), capsys.readouterr().out, re.S)


# ---- outputs ----


def test_text(judged: Game) -> None:
    lines = [text for text, *_ in format_lines(judged)]
    assert lines[0].endswith("game.kif: 駒鳥 - 太郎, 20 moves")
    assert lines[3].split() == ["0", "+50", "52.1", "%", "start"]
    assert lines[4].split() == ["1", "+60", "52.5", "%", "▲P-7f"]
    assert lines[6].split() == ["3", "mate", "-5", "0.0", "%", "51.7", "▲B-7g", "blunder", "▲P-2f", "△P-8e"]
    assert lines[7].split() == ["Walked", "into", "mate", "in", "5."]
    assert [text.split()[-2:] for text in lines[-4:]] == [["0", "0"], ["0", "0"], ["0", "0"], ["1", "0"]]
    lines = [
        text for text, *_ in format_lines(with_values(game_of(RECORDS / "list.sfen", 2), [valued(50, "7g7f", "3c3d")]))
    ]
    assert lines[3].split() == ["0", "+50", "52.1", "%", "start", "▲P-7f", "△P-3d"]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    result = three_moves()
    result.header["先手"] = "長い名前" * 20
    lines = [text for text, *_ in format_lines(result, width)]
    assert max(map(cells, lines)) <= width
    assert all("▲７七角" in line or "▲B-7g" in line for line in lines[6:7])


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A grade is in words, so that nothing is lost without colours."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    print_game(three_moves())
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert "blunder" in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    print_game(three_moves())
    assert "\x1b[1;4;31mblunder\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    print_game(three_moves())
    assert "\x1b[1;4mblunder\x1b[0m" in capsys.readouterr().out


# The patterns that the GUIs' readers look for in a comment line, after the star of KIF.
SHOGIHOME_VALUE = re.compile(r"^#評価値=([+-]?[0-9]+)")
SHOGIHOME_MATE = re.compile(r"^#詰み=(先手勝ち|後手勝ち)(?::([0-9]+)手)?")
SHOGIGUI = re.compile(
    r"^\*解析 0( ○)? 候補1 時間 \d\d:\d\d\.\d 深さ (\d+) ノード数 (\d+) 評価値 (\S+(?: \d+)?)(?: 読み筋 (.+))?$"
)


def test_kif_has_values_for_both_readers(judged: Game, tmp_path: Path) -> None:
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
    assert "【大悪手】勝率が51.7ポイント低下" in lines
    again = with_values(game_of(path), [node.analysis for node in (judged.root, *judged.main_line) if node.analysis])
    assert kif_text(again) == kif_text(judged)  # the earlier analysis is replaced
    with japanese():
        assert kif_text(judged) == path.read_text(encoding="utf-8")


def test_comments_that_begin_as_those_of_an_analysis_are_kept() -> None:
    own = "【悪手】ここは▲２六歩\nEngines 1 and 2\n解析 is a word"
    earlier = "【悪手】\n【大悪手】勝率 -51.7%\n【大悪手】勝率が51.7ポイント低下\n*Engines 0 A\n#評価値=4"
    assert with_comment(f"{own}\n{earlier}", []) == own


def test_kif_has_all_candidates(judged: Game) -> None:
    """The value that ShogiHome takes, the last one, is that of the best line."""
    (line,) = valued(-90, "3c3d", "2g2f").lines
    first = judged.main_line[0].analysis
    assert first
    judged.main_line[0].analysis = replace(first, lines=(*first.lines, replace(line, score=Score(-90, 1))))
    lines = kif_text(judged).splitlines()
    at = next(number for number, line in enumerate(lines) if "候補2" in line)
    assert lines[at].endswith("評価値 90 読み筋 △３四歩(33) ▲２六歩(27)")
    assert lines[at + 1] == "*#評価値=60"


# ---- the command ----


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kif, html = tmp_path / "棋譜 out.kif", tmp_path / "out.html"
    assert main([str(GAME), "--kif", str(kif), "--html", str(html), *QUICK]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"^ +\d+ .* % .*[▲△]", printed, re.M)) == 20
    assert list(game_of(kif).moves) == MOVES
    assert "Engines 0" in kif.read_bytes().decode("cp932")
    assert len(page_json(html.read_text(encoding="utf-8"))["nodes"]) == 21
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
    names = sorted(path.name for path in (tmp_path / "pages").iterdir())
    assert names == ["games-1.html", "games-2.html", "index.html"]


def test_a_stopped_run_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as interrupted:
        first = Searches(interrupted, 7)
        assert main([str(GAME), *QUICK]) == 130
    assert "without --again the same command goes on from here" in capsys.readouterr().err
    second = Searches(monkeypatch)
    assert main([str(GAME), *QUICK]) == 0
    assert first.plies + second.plies == list(range(1, 22))
    resumed = capsys.readouterr().out
    assert main([str(GAME), *QUICK]) == 0
    assert len(second.plies) == 14
    assert capsys.readouterr().out == resumed
    assert main([str(GAME), "--again", *QUICK]) == 0
    assert len(second.plies) == 14 + 21
    assert capsys.readouterr().out == resumed


def test_lines_beside_bad_moves_are_long() -> None:
    """They go on to six plies, unless a mate ends them."""
    analyst = Analyst(Limits(Limit(nodes=10), megabytes=1, evaluation="material"))
    board = Board()
    short, shown = analyst.evaluate(board, effort=2), analyst.look(board, 1, 2)
    assert len(short.pv) < SHOWN <= len(shown.pv)
    assert shown.pv[: len(short.pv)] == short.pv
    Board.from_moves(shown.pv)
    assert replace(shown, lines=short.lines, time=0.0) == replace(short, time=0.0)
    assert len(analyst.look(Board(MATE_IN_ONE), 1, 2).pv) == 1


def test_variations_are_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(RECORDS / "variations.kifu"), "--nodes", "50", *QUICK[2:], "--kif", str(tmp_path / "a.kif")]
    assert main([*words, "--variations"]) == 0
    text = capsys.readouterr().out
    assert text.count("variation at move") == 6
    assert "variation at move 4\n    4" in text
    written = (tmp_path / "a.kif").read_text(encoding="cp932")
    assert written.count("*#評価値=") + written.count("*#詰み=") == 15  # the start and every move
    assert "*角交換\n**解析 0" in written
    main(words)
    assert "variation at move" not in capsys.readouterr().out


LINES = [valued(12, "7g7f"), valued(-5, "2g2f", "8c8d"), valued(-31990, "1g1f")]
RESULT = replace(LINES[0], lines=tuple(result.lines[0] for result in LINES))


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.jsonl"
    Store(path).put(3, RESULT)
    assert Store(path).get(3, Board()) == RESULT
    assert Store(path).get(3, Board.from_moves(["7g7f", "3c3d"])) is None  # moves of another position
    assert Store(path, anew=True).get(3, Board()) is None
    assert Store(path).get(3, Board()) is None


KEPT = b'[4, 12, 10, 1000, 500, [12, 10, 10, "7g7f"], [-5, 10, 10, "2g2f", "8c8d"]]'


@pytest.mark.parametrize("damaged", [
    b"nonsense", b"[4]", b'[4, {"value": 1}]', b"{}", b"7", b"\xff\xfe", b"[" * 100_000, KEPT[:-9],
    *(KEPT.replace(old, new) for old, new in [
        (b"[12", b"[32001"), (b" 12,", b" -32001,"), (b" 12,", b" null,"), (b"7g7f", b"7g7x"), (b"8c8d", b""),
        (b'"7g7f"', b"7"), (b', "7g7f"', b""), (b'[12, 10, 10, "7g7f"]', b"null"), (b" 10,", b" [],"),
        (b"12", b"1e999"), (b" 10,", b" NaN,"), (b"500", b"1e999"), (b"[4,", b"[1e999,"), (b"[4,", b"[[],"),
        (b"1000", b"9" * 5000),
    ]),
])  # fmt: skip
def test_damaged_lines_are_skipped(damaged: bytes, tmp_path: Path) -> None:
    """The lines before and after still count, the last one even after a line that was cut off."""
    path = tmp_path / "a.jsonl"
    Store(path).put(3, RESULT)
    with path.open("ab") as file:
        file.write(damaged)
    Store(path).put(5, RESULT)
    store = Store(path)
    assert [store.get(ply, Board()) for ply in (3, 4, 5)] == [RESULT, None, RESULT]


def test_a_line_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(KEPT)
    assert Store(tmp_path / "a.jsonl").get(4, Board()) == replace(RESULT, lines=RESULT.lines[:2])


@pytest.mark.skipif(os.name == "nt", reason="pipes and links")
def test_only_a_regular_file_is_used(tmp_path: Path) -> None:
    """A pipe would block for ever; a link could lead anywhere."""
    pipe, link, target = tmp_path / "pipe.jsonl", tmp_path / "link.jsonl", tmp_path / "target"
    os.mkfifo(pipe)
    Store(target).put(3, RESULT)
    before = target.read_bytes()
    link.symlink_to(target)
    for path in (pipe, link, tmp_path, tmp_path / ("x" * 300)):
        store = Store(path)
        assert store.get(3, Board()) is None
        store.put(4, RESULT)
        assert store.get(4, Board()) == RESULT
    assert target.read_bytes() == before


def test_the_file_depends_on_game_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, other = game_of(GAME), game_of(RECORDS / "handicap.kif")
    limits = [FAST, replace(FAST, limit=Limit(nodes=301)), replace(FAST, multipv=2)]
    paths = [*(store_path(game, limit) for limit in limits), store_path(other, FAST)]
    assert len(set(paths)) == 4
    assert store_path(game_of(RECORDS / "game.csa"), FAST) == paths[0]
    network = tmp_path / "nn.bin"
    network.write_bytes(b"one")
    own = replace(FAST, evaluation=str(tmp_path))
    before = store_path(game, own)
    network.write_bytes(b"another")
    assert store_path(game, own) != before
    monkeypatch.setenv("KOMADORI_CACHE", "")
    assert store_path(game, FAST) is None
