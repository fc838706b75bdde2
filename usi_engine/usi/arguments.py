"""Types for argparse: numbers in a range. Each raises ArgumentTypeError, which quotes the text and names the range."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from usi_engine.usi.options import DECLARED, Spin

DAY = 86400  # seconds


def whole(least: int = 0, most: int = 2**31 - 1) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least` to `most`."""

    def read(text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
        return int(text)

    return read


def real(least: float, most: float) -> Callable[[str], float]:
    """Return a reader of numbers from `least` to `most`."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {least} to {most}")
        return number

    return read


def spin(option: str) -> Callable[[str], int]:
    """Return a reader of whole numbers in the range of a USI option."""
    declared = DECLARED[option]
    assert isinstance(declared, Spin)
    return whole(declared.least, declared.most)
