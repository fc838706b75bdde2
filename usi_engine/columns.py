"""Text in columns of a terminal, in which Japanese letters take two."""

import re
from collections.abc import Iterable
from unicodedata import east_asian_width

# Text that a line end must not divide: a word in ASCII or another letter, with brackets and punctuation around it.
UNIT = re.compile(r" ?[（「【]*(?:[!-~]+|[^ ])[、。，）」】：！？ーぁぃぅぇぉっゃゅょァィゥェォッャュョ]*")


def cells(text: str) -> int:
    """Return the columns that the text takes; two for letters such as `▲`, which have them in Japan only."""
    return sum(2 if east_asian_width(letter) in "WFA" else 1 for letter in text)


def padded(text: str, width: int) -> str:
    """Return the text with spaces in front of it, or after it if `width` is negative, so that it fills the columns."""
    space = " " * (abs(width) - cells(text))
    return space + text if width > 0 else text + space


def aligned(texts: Iterable[str], widths: Iterable[int], gap: str = "") -> str:
    """Return a line of a table: each text `padded` to the width of its column."""
    return gap.join(padded(text, width) for text, width in zip(texts, widths, strict=False)).rstrip()


def wrap(text: str, width: int) -> list[str]:
    """Return the text in lines of at most `width` columns; a longer word has a line of its own."""
    lines = [""]
    for unit in UNIT.findall(" ".join(text.split())):
        if lines[-1] and cells(lines[-1] + unit) > width:
            lines.append("")
        lines[-1] += unit if lines[-1] else unit.lstrip()
    return lines
