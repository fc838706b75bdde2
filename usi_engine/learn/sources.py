"""Games from files: teacher's and self-play's text, and the records of other programs through rsshogi."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
RESULTS = {"b": 1, "w": -1, "d": 0}


class SourceError(Exception):
    """A file that cannot be read as games; the text quotes what is wrong."""


@dataclass(frozen=True)
class Game:
    """Moves in USI from a start position; scores in centipawns for the side to move, None where nothing is known."""

    start: str
    moves: list[str]
    scores: list[int | None]
    result: int  # 1 Black won, -1 White, 0 draw


def open_text(path: Path) -> IO[str]:
    """A text file, decompressed as its name says."""
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8")


def parse_teacher_line(line: str) -> Game:
    """One game of a teacher file: result, how it ended, start position, then moves each followed by its score or `-`."""
    fields = line.rstrip("\n").split("\t")
    if len(fields) != 4 or fields[0] not in RESULTS:
        raise SourceError(f"not a game: '{line[:60].rstrip()}'")
    words = fields[3].split()
    if len(words) % 2:
        raise SourceError(f"a move without a score: '{words[-1]}'")
    try:
        scores = [None if word == "-" else int(word) for word in words[1::2]]
    except ValueError as error:
        raise SourceError(f"not a score: {error}") from None
    return Game(START if fields[2] == "startpos" else fields[2].removeprefix("sfen "), words[::2], scores, RESULTS[fields[0]])


def read_teacher(path: Path) -> Iterator[Game]:
    """The games of a .tsv file, compressed or not."""
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield parse_teacher_line(line)
            except SourceError as error:
                raise SourceError(f"{path}, line {number}: {error}") from None


def games_of(path: Path) -> Iterator[Game]:
    """The games of a file of any kind that is known by its name. SourceError, OSError."""
    name = path.name.lower()
    for ending, read in READERS.items():
        if name.endswith(ending):
            return read(path)
    raise SourceError(f"{path}: expected a name ending in {', '.join(READERS)}")


READERS: dict[str, Callable[[Path], Iterator[Game]]] = {
    ".tsv": read_teacher,
    ".tsv.xz": read_teacher,
    ".tsv.gz": read_teacher,
}
