"""Japanese texts of the program: placeholders, width, language of each command."""

import os
import re
import runpy
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.programs import ROOT, run_command
from tests.project.catalog import translated
from usi_engine import language
from usi_engine.__main__ import TOOLS, main
from usi_engine.columns import cells, padded, wrap
from usi_engine.language import choose, language_of_environment, split_language

RECORDS = ROOT / "tests" / "data" / "records"
KANA = re.compile("[ぁ-んァ-ヶ]")
PLACEHOLDER = re.compile(r"\{(\w+)[^{}]*\}|%\((\w+)\)[sr]|(%[sr])")


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the catalog as it is now."""
    runpy.run_path(str(ROOT / "setup.py"))["compile_catalogs"]()


@pytest.fixture(autouse=True)
def english_afterwards() -> Iterator[None]:
    yield
    choose("en")


def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Run the program; return what it prints."""
    monkeypatch.setattr(sys, "argv", ["usi_engine", *words])
    with suppress(SystemExit):
        main()
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_placeholders_exist() -> None:
    """A Japanese text names only values that the English one has; play gives centipawns beside pawns."""
    for english, japanese in translated().items():
        names = set(PLACEHOLDER.findall(english)) | ({("centipawns", "", "")} if "{pawns" in english else set())
        assert set(PLACEHOLDER.findall(japanese)) <= names, english
        assert len(re.findall("%[sr]", japanese)) == len(re.findall("%[sr]", english)), english


@pytest.mark.parametrize("name", ["en", "ja"])
@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in TOOLS), ["book", "build", "--help"]])
def test_help_in_each_language(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A help text has at most 80 columns, whatever the width of the terminal."""
    monkeypatch.setenv("COLUMNS", "200")
    for order in ([*words, "--lang", name], [f"--lang={name}", *words]):
        text = printed(capsys, monkeypatch, *order)
        assert bool(KANA.search(text)) == (name == "ja")
        assert max(map(cells, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pley"], "'play' の間違いではありませんか"),
        (["mate"], "次の引数が必要です：SFEN|FILE|-"),
        (["convert", str(RECORDS / "illegal.csa"), "--to", "csa"], "22 行目、7 手目：指せない手です：'+1715FU'"),
    ],
)
def test_errors_in_japanese(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert message in printed(capsys, monkeypatch, "--lang", "ja", *words)


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "C.UTF-8", "LC_MESSAGES": "ja"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LANGUAGE": "en:ja"}, "en"),
    ],
)
def test_language_of_the_environment(variables: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in language.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(language, "language_of_windows", lambda: "en")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert language_of_environment() == name


def test_the_language_among_the_words() -> None:
    assert split_language(["play", "--lang", "ja", "x"]) == ("ja", ["play", "x"])
    assert split_language(["mate", "--", "--lang=ja"]) == (None, ["mate", "--", "--lang=ja"])
    for words in (["--lang"], ["--lang=fr"]):
        with pytest.raises(ValueError, match=r"^--lang: '(fr)?' is none of en, ja$"):
            split_language(words)


def test_usi_is_english_in_japan() -> None:
    """Output for a GUI has no Japanese, and nothing heavy is imported before usiok."""
    program = "import sys, runpy; sys.argv = ['usi_engine']; runpy.run_module('usi_engine', run_name='__main__')"
    environment = {**os.environ, "LANGUAGE": "ja"}
    command = [sys.executable, "-X", "importtime", "-c", program]
    done = run_command(command, input="usi\nbogus\nquit\n", env=environment)
    assert done.stdout.isascii() and "usiok" in done.stdout
    heavy = r"gettext|argparse|numpy|rich|platformdirs|rsshogi|core_ext\..*|usi_engine\.(analysis|records)"
    assert not re.search(rf"\| +({heavy})$", done.stderr, re.M)


def test_moves_in_japanese(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of a table are aligned although letters are twice as wide."""
    mate = printed(capsys, monkeypatch, "--lang", "ja", "mate", "4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
    assert mate == "1手詰：▲５二金\n"
    rows = printed(capsys, monkeypatch, "--lang", "ja", "book", "show", "startpos", "moves", "7g7f").splitlines()
    assert re.match("△[３８]", rows[1]) and rows[0].split() == ["指し手", "応手", "評価値", "深さ", "回数", "採用率"]
    assert len({cells(row) for row in rows}) == 1


def test_columns_of_japanese_text() -> None:
    assert [cells(text) for text in ("", "ab", "７六歩", "▲")] == [0, 2, 6, 2]
    assert (padded("手", 4), padded("手", -4)) == ("  手", "手  ")
    assert wrap("棋譜を解析します（KIF、HTML）。", 14) == ["棋譜を解析しま", "す（KIF、", "HTML）。"]
    assert wrap("one two three", 7) == ["one two", "three"]
