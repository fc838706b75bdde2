"""`usi_engine convert`."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.programs import run_engine
from tests.records.common import MOVES, RECORDS, faults_of, game_of
from usi_engine.records.convert import main
from usi_engine.records.formats import FORMATS
from usi_engine.records.tree import Node

GAME = str(RECORDS / "game.kif")
SOURCE = RECORDS / "variations.kifu"


def converted(text: str, suffix: str, to: str, folder: Path) -> str:
    """A record of this format after its conversion."""
    path, out = folder / f"in{suffix}", folder / f"out.{to}"
    path.write_text(text, encoding="utf-8")
    assert main([str(path), "--out", str(out), "--to", to, "--encoding", "utf-8"]) == 0
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("source", ["game.kif", "game.ki2u", "game.csa", "game.jkf", "game.usi", "handicap.csa"])
@pytest.mark.parametrize("to", ["kif", "kifu", "ki2", "csa", "jkf", "usi"])
def test_moves_and_start_survive(source: str, to: str, tmp_path: Path) -> None:
    out = tmp_path / "folder 棋譜" / f"game.{to}"
    assert main([str(RECORDS / source), "--out", str(out)]) == 0
    before, after = game_of(RECORDS / source), game_of(out)
    assert (after.start, after.moves) == (before.start, before.moves)
    if to != "usi":
        assert after.players == before.players


@pytest.mark.parametrize(
    "suffix, encoding", [(".kif", "cp932"), (".kifu", "utf-8"), (".ki2", "cp932"), (".csa", "utf-8")]
)
def test_encoding_by_suffix(suffix: str, encoding: str, tmp_path: Path) -> None:
    out = tmp_path / f"game{suffix}"
    main([GAME, "--out", str(out)])
    assert "駒鳥" in out.read_bytes().decode(encoding)
    assert ("encoding=UTF-8" in out.read_bytes().decode(encoding)) == (suffix == ".kifu")


def test_letters_that_shift_jis_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "a.kifu", tmp_path / "a.kif"
    source.write_text("先手：🐦\n手合割：平手\n   1 ７六歩(77)\n", encoding="utf-8")
    assert main([str(source), "--out", str(out)]) == 0
    assert out.read_bytes().decode("utf-8").startswith("# KIF version=2.0 encoding=UTF-8\n")
    assert game_of(out).players[0] == "🐦"
    assert main([str(source), "--out", str(out), "--encoding", "shift_jis"]) == 2
    assert "Shift-JIS has no '🐦'" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "time", "status"), [("太郎", "0.5", 0), ("ﾅｶﾑﾗ", "0.5", 0), ("ﾅｶﾑﾗ", "1", 2)])
def test_csa_in_shift_jis(
    name: str, time: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CSA 3.0 names its encoding; a text that would be read as EUC-JP is refused."""
    source, out = tmp_path / "a.csa", tmp_path / "b.csa"
    source.write_text(f"N+{name}\nPI\n+\n+7776FU\nT{time}\n", encoding="utf-8")
    assert main([str(source), "--out", str(out), "--encoding", "shift_jis"]) == status
    if not status:
        assert out.read_bytes().startswith(b"'CSA encoding=SHIFT_JIS\nV3.0\n")
        assert game_of(out).players[0] == name
    else:
        assert "another encoding" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "line"), [("30分", "$TIME_LIMIT:00:30+30"), ("30分+10秒", "$TIME_LIMIT:00:30+10\n$秒読み:30秒")]
)
def test_byoyomi_and_date_of_kif(limit: str, line: str, tmp_path: Path) -> None:
    text = f"持ち時間：{limit}\n秒読み：30秒\n対局日：2020/01/01\n手合割：平手\n   1 ７六歩(77)\n"
    assert f"V2.2\n{line}\n$START_TIME:2020/01/01\nPI\n" in converted(text, ".kifu", "csa", tmp_path)


def test_lines_of_engines_keep_their_stars(tmp_path: Path) -> None:
    line = "**解析 0 ○ 候補1 時間 00:03.4 深さ 20 ノード数 1115190 評価値 103 読み筋 ▲２六歩(27)"
    text = f"手合割：平手\n{line}\n   1 ７六歩(77)\n{line}\n*#評価値=22\n*words\n"
    again = converted(text, ".kifu", "kif", tmp_path)
    assert again.splitlines().count(line) == 2
    assert "\n*#評価値=22\n*words\n" in again


def test_several_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults are printed and the other games are converted; files do not overwrite each other."""
    folder = tmp_path / "out"
    sources = [str(RECORDS / name) for name in ("games.csa", "illegal.kif", "game.kif", "game.csa")]
    assert main([*sources, "--out", str(folder), "--to", "kif"]) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["game-2.kif", "game.kif", "games-1.kif", "games-2.kif"]
    assert "illegal.kif, line 15, move 7" in capsys.readouterr().err
    assert main([*sources, "--out", str(tmp_path / "all.usi")]) == 1
    assert len((tmp_path / "all.usi").read_text(encoding="utf-8").splitlines()) == 4


def test_no_record_is_replaced_by_its_conversion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = tmp_path / "game.kif"
    game.write_bytes((RECORDS / "game.kif").read_bytes())
    others = [str(game), str(RECORDS / "handicap.kif"), "--to", "kif", "--out", str(tmp_path)]
    assert main(others) == 1
    assert f"{game} is also an input" in capsys.readouterr().err
    assert game.read_bytes() == (RECORDS / "game.kif").read_bytes()
    assert (tmp_path / "handicap.kif").exists()


def test_a_file_is_as_readable_as_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The umask stays as it is: other threads may make files meanwhile."""
    monkeypatch.delattr("os.umask")
    (tmp_path / "other").touch()
    assert main([GAME, "--out", str(tmp_path / "out.csa")]) == 0
    assert (tmp_path / "out.csa").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_record_that_cannot_be_written_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.jkf"
    bad.write_text('{"moves":[{},{"special":"同"}]}', encoding="utf-8")
    words = [str(bad), GAME, str(RECORDS / "handicap.csa"), "--out", str(tmp_path / "out"), "--to"]
    assert main([*words, "kif"]) == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["game.kif", "handicap.kif"]
    assert capsys.readouterr().err.startswith(f"{bad}: the text of the record ")
    blocked = tmp_path / "blocked"
    (blocked / "game.csa").mkdir(parents=True)
    assert main([GAME, str(RECORDS / "handicap.csa"), "--to", "csa", "--out", str(blocked)]) == 1
    assert (blocked / "handicap.csa").is_file()
    assert "game.csa" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("to", "lost"),
    [("csa", "1 comment, 1 time, 1 end"), ("jkf", "1 comment, 1 time, 1 end"), ("kif", "1 header line"),
     ("ki2", "2 times, 1 header line")],
)  # fmt: skip
def test_an_end_that_a_format_lacks_is_left_out(
    to: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "a.jkf", tmp_path / f"b.{to}"
    moves = '{"move":{"from":{"x":7,"y":7},"to":{"x":7,"y":6},"piece":"FU"},"time":{"now":{"m":0,"s":5}}}'
    end = '{"special":"切断 (network)","comments":["c"],"time":{"now":{"m":0,"s":1}}}'
    source.write_text(f'{{"header":{{"a b":"c","手合割":"平手"}},"moves":[{{}},{moves},{end}]}}', encoding="utf-8")
    assert main([str(source), "--out", str(out)]) == 0
    assert capsys.readouterr().err == f"{source}: {to.upper()} cannot hold {lost}\n"
    found = game_of(out).record.end
    assert found is None if to in ("csa", "jkf") else found is not None and found.word == "切断 (network)"


@pytest.mark.parametrize("to", ["kif", "ki2", "csa", "jkf", "usi"])
def test_the_move_number_of_the_start(to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    converted("sfen 4k4/9/9/9/9/9/9/9/4K4 b G 41 moves 5i5h\n", ".usi", to, tmp_path)
    assert ("cannot hold 1 move number of the start\n" in capsys.readouterr().err) == (to != "usi")


@pytest.mark.parametrize(("to", "lost"), [("kif", 3), ("ki2", 3), ("csa", 1), ("jkf", 0)])
def test_keys_of_headers_that_a_format_cannot_hold(
    to: str, lost: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '{"header":{"{a":"1","b:c":"2","対局：回":"3","d":"4：5"},"moves":[{},{"special":"TORYO"}]}'
    converted(text, ".jkf", to, tmp_path)
    assert (f"cannot hold {lost} header line" in capsys.readouterr().err) == bool(lost)
    header = game_of(tmp_path / f"out.{to}").headers
    assert (len(header), header["d"]) == (4 if to in ("csa", "jkf") else 1, "4：5")


def test_a_line_counts_what_a_format_cannot_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.csa"
    source.write_text("N+a\nPI\n+\n'*c\n+7776FU\nT1.5\n'*d\n-3334FU\nT2\n%TORYO\n", encoding="utf-8")
    for to, lost in (
        ("csa", ""), ("kif", "1 fractional time"), ("ki2", "2 times"),
        ("usi", "2 comments, 2 times, 1 header line, 1 end"),
    ):  # fmt: skip
        assert main([str(source), "--to", to]) == 0
        assert capsys.readouterr().err == (f"{source}: {to.upper()} cannot hold {lost}\n" if lost else "")
    assert main([str(SOURCE), "--to", "csa"]) == 0
    assert "6 variations" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lost", "damage"),
    [
        ("start", lambda text: text.replace("PI\n", "PI82HI\n")), ("move", lambda text: text.replace("-3334", "-8384")),
        ("time", lambda text: text.replace("T1.5", "T1")), ("comment", lambda text: text.replace("'*c", "'*d")),
        ("end", lambda text: text.replace("TORYO", "CHUDAN")), ("all", lambda text: "damaged"),
    ],
)  # fmt: skip
def test_no_record_is_written_that_reads_back_differently(
    lost: str, damage: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    source, out, usual = tmp_path / "a.csa", tmp_path / "b.csa", FORMATS["csa"]
    source.write_text("PI\n+\n+7776FU\nT1.5\n'*c\n-3334FU\n%TORYO\n", encoding="utf-8")
    damaged = replace(usual, write=lambda record: damage(usual.write(record)))
    monkeypatch.setitem(FORMATS, "csa", damaged)
    assert main([str(source), "--out", str(out)]) == 2
    assert not out.exists(), lost
    assert "read back" in capsys.readouterr().err.replace("reads", "read")


def test_printed_without_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GAME, "--to", "usi"]) == 0
    assert capsys.readouterr().out.split()[-20:] == MOVES


@pytest.mark.parametrize("encoding", ["", "utf-8", "shift_jis"])
def test_the_encoding_of_printed_text(encoding: str) -> None:
    """In UTF-8 if a file or a pipe takes it, whatever the system's encoding is."""
    words = ["convert", GAME, "--to", "ki2", *(["--encoding", encoding] if encoding else [])]
    done = run_engine(*words, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, encoding=encoding or "utf-8")
    assert "▲７六歩" in done.stdout and not done.returncode


# ---- variations ----


def shape(node: Node) -> list[object]:
    """A tree as nested lists."""
    end = node.end and node.end.name
    return [node.move, node.milliseconds, node.comment, end, *map(shape, node.variations)]


def test_the_tree_is_walked_from_python() -> None:
    game = game_of(SOURCE)
    first, other = game.variations
    assert (first.move, other.move, game.moves) == ("7g7f", "2g2f", ("7g7f", "3c3d", "2g2f", "4c4d"))
    assert [node.move for node in first.variations[0].variations] == ["2g2f", "8h2b+", "6g6f"]
    exchange = first.variations[0].variations[1]
    assert (exchange.comment, exchange.milliseconds, exchange.moves()) == ("角交換", 6000, ["7g7f", "3c3d", "8h2b+"])
    assert [node.move for node in exchange.mainline()] == ["3a2b", "B*4e"]
    assert (exchange.last().end, exchange.last().path()[1]) == (next(exchange.mainline()).variations[0].end, first)
    assert [node.move for node in exchange.variations] == ["3a2b", "8b2b"]
    last = game.record.root.last()
    assert (last.move, last.next(), [node.move for node in last.alternatives()]) == ("4c4d", None, ["2f2e"])
    assert game.record.count_variations() == 6


def test_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As ShogiGUI and Kifu for Windows write it; CSA and JKF have none, and a side in check cannot pass."""
    text = "手合割：平手\n   1 ２六歩(27)   ( 0:01/00:00:01)\n   2 パス         ( 0:02/00:00:02)\n   3 ２五歩(26)\n"
    for kind in ("kif", "ki2", "usi"):
        path = tmp_path / f"a.{kind}"
        path.write_text(text if kind == "kif" else converted(text, ".kif", kind, tmp_path), encoding="utf-8")
        assert game_of(path).moves == ("2g2f", "pass", "2f2e")
        assert game_of(path).board().sfen() == "lnsgkgsnl/1r5b1/ppppppppp/9/7P1/9/PPPPPPP1P/1B5R1/LNSGKGSNL w - 4"
    assert game_of(tmp_path / "a.kif").times[1] == 2000
    for kind in ("csa", "jkf"):
        assert main([str(tmp_path / "a.kif"), "--to", kind]) == 2
        assert f"{kind.upper()} cannot hold a pass; write KIF, KI2 or USI" in capsys.readouterr().err
    (tmp_path / "b.usi").write_text("4k4/9/9/9/9/9/9/4r4/4K4 b - 1 moves pass\n")
    assert faults_of(tmp_path / "b.usi") == ["b.usi, line 1, move 1: illegal move: 'pass'"]


@pytest.mark.parametrize("formats", [["kif"], ["ki2"], ["jkf", "kif"], ["ki2", "jkf", "ki2", "kif"]])
def test_conversions_keep_the_tree(formats: list[str], tmp_path: Path) -> None:
    """Times are lost in KI2."""
    path = SOURCE
    for number, kind in enumerate(formats):
        out = tmp_path / f"{number}.{kind}"
        assert main([str(path), "--out", str(out), "--encoding", "utf-8"]) == 0
        path = out
    if "ki2" not in formats:
        assert path.read_text(encoding="utf-8") == SOURCE.read_text(encoding="utf-8")
    before = game_of(SOURCE).record.root
    for node in before.nodes() if "ki2" in formats else ():
        node.milliseconds = None
    assert shape(game_of(path).record.root) == shape(before)


def test_variations_at_an_end_that_jkf_lacks_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "a.kifu", tmp_path / "a.jkf"
    source.write_text("手合割：平手\n   1 ７六歩(77)\n   2 切断\n変化：2手\n   2 ３四歩(33)\n", encoding="utf-8")
    assert main([str(source), "--out", str(out)]) == 0
    assert capsys.readouterr().err == f"{source}: JKF cannot hold 1 end\n"
    assert shape(game_of(out).record.root)[4:] == [["7g7f", None, None, "CHUDAN", ["3c3d", None, None, None]]]
