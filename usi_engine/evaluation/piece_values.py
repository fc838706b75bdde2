"""Piece values from a text file, for the material evaluation.

One piece a line, letters as in an sfen and centipawns; what follows `#` is a comment, and a piece that is not named
keeps its usual value:

    P 100
    +P 600    # a tokin
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.evaluation.names import WeightsError

if TYPE_CHECKING:
    from core_ext.engine import PieceValues

SUFFIX = ".txt"
LARGEST_FILE = 1 << 16
# Of a line in a message.
SHOWN = 60


class _Fault(ValueError):
    """What is wrong with a line, or with the file."""


def read_piece_values(path: Path) -> PieceValues:
    """The values in a file. WeightsError with one line that names the file and quotes the fault."""
    try:
        return parse_piece_values(_read_text(path))
    except _Fault as fault:
        raise WeightsError(f"cannot play with the piece values '{path}': {fault}") from None
    except OSError as error:
        raise WeightsError(f"cannot read the piece values '{path}': {error.strerror or error}") from None
    except ValueError as error:  # of a path that no file can have
        raise WeightsError(f"cannot read the piece values {str(path)!a}: {error}") from None


def parse_piece_values(text: str) -> PieceValues:
    """The values in a text. ValueError that quotes the line."""
    from core_ext.engine import PieceValues  # noqa: PLC0415  (when it is needed)

    values: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            try:
                values.update(_parse_line(words, values))
                PieceValues(values)
            except ValueError as error:
                raise _Fault(f"line {number} {line.strip()[:SHOWN]!a}: {error}") from None
    return PieceValues(values)


def _parse_line(words: list[str], known: dict[str, int]) -> dict[str, int]:
    """ValueError."""
    if len(words) != 2 or not (words[1].isascii() and words[1].lstrip("-").isdigit()) or len(words[1]) > SHOWN:
        raise ValueError("not a piece and its value, as in 'P 90'")
    if words[0] in known:
        raise ValueError(f"a second value of '{words[0]}'")
    return {words[0]: int(words[1])}


def _read_text(path: Path) -> str:
    if not path.exists():
        raise _Fault("there is no such file")
    if not path.is_file():
        raise _Fault("this is no regular file")
    with path.open("rb") as stream:
        data = stream.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise _Fault(f"more than {LARGEST_FILE} bytes are no piece values")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _Fault("it is no UTF-8 text") from None
