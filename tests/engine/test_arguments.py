"""Commands and numbers on the command line."""

from argparse import ArgumentTypeError

import pytest

from usi_engine.game.command_line import commands_of
from usi_engine.usi.arguments import real, spin, whole

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


@pytest.mark.parametrize("text", ["", " ", "x", "0", "11", "-1", "--1", "5.0", "1_0", "５", "9" * 5000])
def test_a_bad_whole_number_from_1_to_10(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^'{text}' is not a whole number from 1 to 10$"):
        whole(1, 10)(text)


@pytest.mark.parametrize("text", ["", "x", "-0.1", "1.1", "inf", "-inf", "nan", "1e999"])
def test_a_bad_number_from_0_to_1(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^'{text}' is not a number from 0 to 1$"):
        real(0, 1)(text)


def test_a_bad_number_for_an_option() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^'513' is not a whole number from 1 to 512$"):
        spin("Threads")("513")
