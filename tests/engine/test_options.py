"""Options and arguments: declarations, clamping, refusals, commands and numbers on the command line."""

import os
import re
from argparse import ArgumentTypeError
from collections.abc import Callable

import pytest

from tests.positions import described_rows
from usi_engine.game.command_line import commands_of
from usi_engine.usi.arguments import real, spin, whole
from usi_engine.usi.options import DECLARED, ENTERING_KING_RULES, Option, Options, default_threads

DECLARATION = re.compile(
    r"option name [A-Za-z0-9_]+ type "
    r"(spin default -?\d+ min -?\d+ max -?\d+|check default (true|false)|"
    r"combo default \S+( var \S+)+|(string|filename) default \S+)"
)


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 2), (4, 4), (64, 4)])
def test_threads_by_default(monkeypatch: pytest.MonkeyPatch, cores: int, threads: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert default_threads() == threads


def test_declarations_have_the_protocols_form() -> None:
    lines = Options().declarations()
    assert len(lines) == len(DECLARED)
    assert all(DECLARATION.fullmatch(line) for line in lines)


@pytest.mark.parametrize(
    "declaration",
    [
        "spin default 1 min -1 max 8", "spin default x", "check default true", "combo default a b var a b var c",
        "string default <empty>", "filename default a min 1", "button",
    ],
)  # fmt: skip
def test_the_declaration_of_another_engine(declaration: str) -> None:
    assert str(Option.parse(declaration)) == declaration
    assert Option.parse("spin\tmin 1\tdefault 9  max 8") == Option("spin", 8, 1, 8)
    assert Option.parse("combo  var A var B default b") == Option("combo", "B", values=("A", "B"))


@pytest.mark.parametrize(
    ("name", "texts", "shown"),
    [
        ("threads", ("4", " 4 ", "+4"), "4"), ("Threads", ("0", "-9"), "1"), ("Threads", ("9" * 11, "513"), "512"),
        ("USI_Ponder", ("true", "1", "on", "TRUE"), "true"), ("USI_Ponder", ("FALSE", "0", "off"), "false"),
        ("MateShortest", ("short", "false"), "short"), ("MateShortest", ("true",), "shortest"),
        *(("enteringkingrule", (rule, rule.upper()), rule) for rule in ENTERING_KING_RULES),
    ],
)  # fmt: skip
def test_values(name: str, texts: tuple[str, ...], shown: str) -> None:
    """Numbers are clamped; case makes no difference."""
    for text in texts:
        options = Options()
        assert options.set(name, text) is None
        assert options.listing(name)[0].endswith(f" = {shown}")


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Threads", ["", "many", "nan", "inf", "1e999", "0x10", "1_0", "1.5", "4.0", "４"]),
        ("USI_Ponder", [""]),
        ("EnteringKingRule", ["CSARule28"]),
    ],
)
def test_a_refused_value_is_quoted_and_changes_nothing(name: str, texts: list[str]) -> None:
    for text in texts:
        options = Options()
        refusal = options.set(name, text)
        assert refusal is not None and f"'{text}'" in refusal and options.listing() == Options().listing()
    assert "'Foo'" in (Options().set("Foo", "1") or "") and Options().listing("Foo") == []


def test_lines_of_eval_options_set_what_the_user_has_not_set() -> None:
    options = Options()
    options.set("Threads", "3")
    options.set("FV_SCALE", "0")  # the default, as GUIs send it
    lines = [
        "option name FV_SCALE type spin default 24 min 1 max 128", "", " # FV_SCALE=30", "; 1", "//2",
        "multipv=2", "USI_Ponder true", "Threads 2",
    ]  # fmt: skip
    told = ["FV_SCALE = 24", "MultiPV = 2", "USI_Ponder = true", "option Threads stays 3, as it was set, not 2"]
    assert options.advise(lines) == told
    assert (options.number("FV_SCALE"), options.number("MultiPV"), options.number("Threads")) == (24, 2, 3)
    options.set("FV_SCALE", "16")
    assert options.advise(["FV_SCALE 20"]) == ["option FV_SCALE stays 16, as it was set, not 20"]
    assert (options.number("FV_SCALE"), options.number("MultiPV"), options.flag("USI_Ponder")) == (16, 1, False)
    options.set("FV_SCALE", "0")  # as the file says
    assert options.advise(["FV_SCALE 20"]) == ["FV_SCALE = 20"]


def test_options_that_a_gui_sends_before_each_game_are_the_same_in_each() -> None:
    """A default after the advice is a wish, unless it only repeats what was sent before."""
    options, lines = Options(), ["SlowMover=50", "MultiPV=2"]
    for _ in range(3):
        options.set("SlowMover", "100")
        assert options.advise(lines) == ["SlowMover = 50", "MultiPV = 2"]
    for _ in range(2):
        options.set("MultiPV", "1")
        assert options.advise(lines) == ["SlowMover = 50", "option MultiPV stays 1, as it was set, not 2"]


@pytest.mark.parametrize(("line", "told"), described_rows("eval_options.jsonl"))
def test_each_line_of_eval_options_is_answered_in_one_sentence(line: str, told: str) -> None:
    options = Options()
    assert options.advise([line, "MultiPV=2"]) == [told, "MultiPV = 2"]
    assert options.text("EvalDir") == ""


SFEN = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"


@pytest.mark.parametrize(
    "arguments",
    [["position", "sfen", *SFEN.split(), "go", "depth", "3"], ["position", "sfen", SFEN, "go", "depth", "3"],
     ["position", f"sfen {SFEN}", "go", "depth 3"], [f"position sfen {SFEN}", "go", "depth", "3"],
     ["position", "sfen", *SFEN.split(), "go depth 3"]],
)  # fmt: skip
def test_commands_in_words_in_quotes_or_both(arguments: list[str]) -> None:
    assert commands_of(arguments) == [f"position sfen {SFEN}", "go depth 3"]


def test_a_command_in_quotes_is_the_whole_argument() -> None:
    path = "setoption name BookDir value my  go"
    assert commands_of([path, "usinewgame", "", "go depth 1"]) == [path, "usinewgame", "go depth 1"]


def test_numbers_within_the_range() -> None:
    assert [whole()(text) for text in ("0", "7", "2147483647")] == [0, 7, 2147483647]
    assert [whole(-5, 5)(text) for text in ("-5", "05")] == [-5, 5]
    assert [real(0, 1)(text) for text in ("0", "1", ".25", "1e-3")] == [0, 1, 0.25, 0.001]
    assert [spin("USI_Hash")(text) for text in ("1", "262144")] == [1, 262144]


@pytest.mark.parametrize(
    ("read", "texts", "wanted"),
    [
        (whole(1, 10), ["", " ", "x", "0", "11", "-1", "5.0", "1_0", "５", "9" * 5000], "whole number from 1 to 10"),
        (real(0, 1), ["", "x", "-0.1", "1.1", "inf", "-inf", "nan", "1e999"], "number from 0 to 1"),
        (spin("Threads"), ["513"], "whole number from 1 to 512"),
    ],
)
def test_bad_numbers(read: Callable[[str], float], texts: list[str], wanted: str) -> None:
    for text in texts:
        with pytest.raises(ArgumentTypeError, match=f"^'{text}' is not a {wanted}$"):
            read(text)
