"""An opening book in YaneuraOu's text format, `#YANEURAOU-DB2016 1.00`.

    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
    2g2f 8c8d 25 20 1
    7g7f 3c3d 10 20 3

A line that begins with `sfen` is a position; the lines below are its moves: move, reply, value for the side to move,
depth, count. The move number of the position does not matter. A small file is read whole; a large one, whose
positions must then be sorted as YaneuraOu writes them, is searched on the disk.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MARK = b"#YANEURAOU-DB2016"
READ_WHOLE_UP_TO = 32 * 2**20
# Bytes and lines of one position that are read: no position has 600 moves. A probe must not take long, whatever is in
# the file.
LONGEST_POSITION = 32 * 2**10
MOST_MOVES = 600
# Moves worse than the best by more than this (centipawns) are not played.
WORST_LOSS = 30
COMMENT = re.compile(r"(#|//).*")
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
NO_MOVES = frozenset({"none", "resign", "win", "0000"})


@dataclass(frozen=True)
class BookMove:
    """One move of the book; `reply` may be empty."""

    move: str
    reply: str
    value: int
    depth: int
    count: int


class BookError(Exception):
    """The file cannot be used as a book; the text names it and gives the reason."""


class Book:
    """A book file. Probing never raises."""

    def __init__(self, path: str) -> None:
        """BookError where the file cannot be read or is not a book."""
        self.path = path
        try:
            if Path(path).exists() and not Path(path).is_file():
                raise BookError(f"book '{path}' is no regular file")
            with Path(path).open("rb") as file:
                self._begin(file)
        except OSError as error:
            raise BookError(f"book '{path}' cannot be read: {error.strerror}") from error
        except ValueError as error:  # a path with a null character
            raise BookError(f"book '{path}' cannot be read: {error}") from error

    def probe(self, sfen: str) -> list[BookMove]:
        """The moves of this position, best value first; an empty list where it is not in the book."""
        key = position_key(sfen.encode())
        text = self._on_disk(key) if self._positions is None else self._positions.get(key, b"")
        lines = text.decode("ascii", "replace").splitlines()[:MOST_MOVES]
        moves = [move for line in lines if (move := read_move(line))]
        return sorted(moves, key=lambda move: -move.value)

    def _begin(self, file: BinaryIO) -> None:
        if not file.readline().removeprefix(b"\xef\xbb\xbf").startswith(MARK):
            raise BookError(f"book '{self.path}' does not begin with {MARK.decode()}")
        self._size = Path(self.path).stat().st_size
        self._positions = read_positions(file.read()) if self._size <= READ_WHOLE_UP_TO else None

    def _on_disk(self, key: bytes) -> bytes:
        try:
            with Path(self.path).open("rb") as file:
                return search_sorted(file, self._size, key)
        except OSError:
            return b""


def read_positions(text: bytes) -> dict[bytes, bytes]:
    """Key of each position -> its move lines."""
    positions: dict[bytes, bytes] = {}
    for part in text.replace(b"\r", b"").split(b"sfen ")[1:]:
        head, _, moves = part.partition(b"\n")
        key = position_key(head)
        before = positions.get(key, b"")
        positions[key] = before + moves[: LONGEST_POSITION - len(before)]
    return positions


def search_sorted(file: BinaryIO, size: int, key: bytes) -> bytes:
    """Move lines of the position, found by bisection; empty where it is not there."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        start, found = position_from(file, middle)
        if start is None or start >= high or found >= key:
            high = middle
        else:
            low = middle + 1
    _, found = position_from(file, low)
    return read_move_lines(file) if found == key else b""


def position_from(file: BinaryIO, offset: int) -> tuple[int | None, bytes]:
    """Start and key of the first position line at or after `offset`; leaves the file at the line after it.

    None and an empty key where LONGEST_POSITION bytes hold none.
    """
    begin = max(offset - 1, 0)
    file.seek(begin)
    text = file.read(LONGEST_POSITION)
    at = text.find(b"\nsfen ") + 1
    if not at:
        return None, b""
    file.seek(begin + at)
    return begin + at, position_key(file.readline(LONGEST_POSITION)[5:])


def read_move_lines(file: BinaryIO) -> bytes:
    """The lines up to the next position line."""
    return (b"\n" + file.read(LONGEST_POSITION)).partition(b"\nsfen ")[0]


def position_key(sfen: bytes) -> bytes:
    """Board, side to move and hands, without the move number."""
    return b" ".join(sfen[:LONGEST_POSITION].split()[:3])


def read_move(line: str) -> BookMove | None:
    """One move line; missing numbers count as 0. None for a comment or an empty line."""
    words = COMMENT.sub("", line).split()
    if not words or words[0] in NO_MOVES:
        return None
    reply = words[1] if len(words) > 1 and words[1] not in NO_MOVES else ""
    numbers = [read_integer(word) for word in words[2:5]]
    value, depth, count = numbers + [0] * (3 - len(numbers))
    return BookMove(words[0], reply, value, depth, count)


def read_integer(word: str) -> int:
    """The number; 0 where the word is none, or has more than 18 digits."""
    return int(word) if INTEGER.fullmatch(word) else 0


def choose(moves: list[BookMove], rng: random.Random) -> BookMove | None:
    """One of the moves within WORST_LOSS of the best, drawn by how often each was played; None where there is none."""
    if not moves:
        return None
    best = max(move.value for move in moves)
    good = [move for move in moves if move.value >= best - WORST_LOSS]
    return rng.choices(good, [max(move.count, 1) for move in good])[0]
