"""Numbers on the command line."""

from argparse import ArgumentTypeError

import pytest

from usi_engine.arguments import real, spin, whole


def test_numbers_within_the_range() -> None:
    assert [whole()(text) for text in ("0", "7", "2147483647")] == [0, 7, 2147483647]
    assert [whole(-5, 5)(text) for text in ("-5", "05")] == [-5, 5]
    assert [real(0, 1)(text) for text in ("0", "1", ".25", "1e-3")] == [0, 1, 0.25, 0.001]
    assert [spin("USI_Hash")(text) for text in ("1", "262144")] == [1, 262144]


@pytest.mark.parametrize("text", ["", " ", "x", "0", "11", "-1", "--1", "5.0", "1_0", "５", "9" * 5000])
def test_no_whole_number_from_1_to_10(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^'{text}' is not a whole number from 1 to 10$"):
        whole(1, 10)(text)


@pytest.mark.parametrize("text", ["", "x", "-0.1", "1.1", "inf", "-inf", "nan", "1e999"])
def test_no_number_from_0_to_1(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^'{text}' is not a number from 0 to 1$"):
        real(0, 1)(text)


def test_no_number_for_an_option() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^'513' is not a whole number from 1 to 512$"):
        spin("Threads")("513")
