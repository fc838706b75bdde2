"""`usi_engine convert`."""

from pathlib import Path

import pytest

from tests.records.common import MOVES, RECORDS, game_of
from usi_engine.records.convert import main

GAME = str(RECORDS / "game.kif")
VALUES = """V2.2
PI
+
+7776FU
'** 50 -3334FU
-3334FU
'** 40 +2726FU
"""


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


@pytest.mark.parametrize("to", ["kif", "ki2", "csa", "jkf"])
def test_comments_and_times_survive(to: str, tmp_path: Path) -> None:
    out = tmp_path / f"game.{to}"
    main([GAME, "--out", str(out)])
    record = game_of(out).record
    assert record.initial_comment == "自己対局の棋譜。"
    assert record.moves[2].comment == "角交換を待つ。"
    assert record.moves[2].time_ms == (None if to == "ki2" else 5000)  # KI2 has no times
    assert record.main_terminal.kind == "RESIGN"


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


def test_values_in_comments_are_blacks_everywhere(tmp_path: Path) -> None:
    """Black is 50 ahead after his move and 40 after White's, whatever the format."""
    kif = converted(VALUES, ".csa", "kif", tmp_path)
    assert "**評価値=50" in kif
    assert "**評価値=40" in kif
    assert "**評価値=40" in converted(VALUES, ".csa", "ki2", tmp_path)
    for text, suffix in ((VALUES, ".csa"), (kif, ".kifu")):
        again = converted(text, suffix, "csa", tmp_path)
        assert "'** 50" in again
        assert "'** 40" in again


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
    for words in ([str(game), "--out", str(game)], [str(game), GAME, "--to", "kif", "--out", str(tmp_path)]):
        assert main(words) == 2
        assert f"{game} is also read" in capsys.readouterr().err
    assert game.read_bytes() == (RECORDS / "game.kif").read_bytes()


def test_printed_without_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GAME, "--to", "usi"]) == 0
    assert capsys.readouterr().out.split()[-20:] == MOVES


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "--to kif|ki2|csa|jkf|usi"), ([GAME, "--out", "none/all.csa"], "several games need a folder")],
)
def test_wrong_arguments(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GAME, *words]) == 2
    assert message in capsys.readouterr().err
