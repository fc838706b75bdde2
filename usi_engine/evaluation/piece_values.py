"""Piece values from a text file, for the material evaluation.

A line has a piece as in an sfen and its value in centipawns; `#` begins a comment. Pieces that are not named keep their
usual values:

    P 100
    +P 600    # a tokin
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.evaluation.files import Fault, named_errors, read_bytes

if TYPE_CHECKING:
    from core_ext.engine import PieceValues

SUFFIX = ".txt"
LARGEST_FILE = 1 << 16
SHOWN = 60  # characters of a line in a message, and of a number


def read_piece_values(path: Path) -> PieceValues:
    """Read the values from a file. WeightsError."""
    with named_errors("piece values", path):
        try:
            text = read_bytes(path, LARGEST_FILE).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Fault("it is not UTF-8 text") from None
        return parse_piece_values(text)


def parse_piece_values(text: str) -> PieceValues:
    """Read the values from text. Fault, which quotes the line."""
    from core_ext.engine import PieceValues  # noqa: PLC0415  (`id name` needs no core)

    values: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            try:
                values.update(_parse_line(words, values))
                PieceValues(values)
            except ValueError as error:
                raise Fault(f"line {number} {line.strip()[:SHOWN]!a}: {error}") from None
    return PieceValues(values)


def _parse_line(words: list[str], known: dict[str, int]) -> dict[str, int]:
    if len(words) != 2 or not (words[1].isascii() and words[1].lstrip("-").isdigit()) or len(words[1]) > SHOWN:
        raise ValueError("this is not a piece and its value, as in 'P 90'")
    if words[0] in known:
        raise ValueError(f"'{words[0]}' has a value already")
    return {words[0]: int(words[1])}
