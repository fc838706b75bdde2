"""A book in YaneuraOu's text format, `#YANEURAOU-DB2016 1.00`.

    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
    2g2f 8c8d 25 20 1
    7g7f 3c3d 10 20 3

A line that begins with `sfen` is a position; the lines below are its moves: move, reply, value for the side to move,
depth, count. The move number of the position does not matter: the moves below all its numbers are one entry, in which
a move that comes again counts once, as its deepest search has it. A small file is read whole; a large one, whose
positions must then be sorted by their bytes as YaneuraOu writes them, is searched on the disk.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from usi_engine.book.entry import BookError, BookMove, Entry, check_file, position_key, sorted_moves

MARK = b"#YANEURAOU-DB2016"
BOM = b"\xef\xbb\xbf"  # may come before it
READ_WHOLE_UP_TO = 32 * 2**20
LARGEST = 2**48
# Bytes and lines of one position that are read: no position has 600 moves. A probe must not take long, whatever is in
# the file.
LONGEST_POSITION = 32 * 2**10
MOST_MOVES = 600
MOST_LINES = 2 * MOST_MOVES  # with those that repeat the position under another number
# Places in a large file at which its order is checked.
SAMPLES = 64
COMMENT = re.compile(r"(#|//).*")
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
NO_MOVES = frozenset({"none", "resign", "win", "0000"})


class YaneuraOuBook:
    """A .db file. Probing never raises."""

    def __init__(self, path: str) -> None:
        """BookError where the file cannot be read or is not a book."""
        self.path = path
        check_file(path, LARGEST)
        try:
            with Path(path).open("rb") as file:
                self._begin(file)
        except OSError as error:
            raise BookError(f"book '{path}' cannot be read: {error.strerror}") from error

    def probe(self, sfen: str) -> Entry:
        """The moves of this position."""
        key = key_of(sfen.encode("utf-8", "replace"))
        text = self._on_disk(key) if self._positions is None else self._positions.get(key, b"")
        return read_entry(text.decode("ascii", "replace").splitlines()[:MOST_LINES])

    def _begin(self, file: BinaryIO) -> None:
        if not file.readline(LONGEST_POSITION).removeprefix(BOM).startswith(MARK):
            raise BookError(f"book '{self.path}' does not begin with {MARK.decode()}")
        self._size = Path(self.path).stat().st_size
        self._positions = read_positions(file.read()) if self._size <= READ_WHOLE_UP_TO else None
        if self._positions is None and not looks_sorted(file, self._size):
            most = READ_WHOLE_UP_TO >> 20
            raise BookError(f"book '{self.path}' is not sorted, as a book of more than {most} MB must be")

    def _on_disk(self, key: bytes) -> bytes:
        try:
            with Path(self.path).open("rb") as file:
                return search_sorted(file, self._size, key)
        except OSError:
            return b""


def read_positions(text: bytes) -> dict[bytes, bytes]:
    """Key of each position -> its move lines."""
    positions: dict[bytes, bytes] = {}
    for block in (b"\n" + text.replace(b"\r", b"")).split(b"\nsfen ")[1:]:
        head, end, moves = block.partition(b"\n")
        key = key_of(head)
        before = positions.get(key, b"")
        positions[key] = before + (moves + end)[: LONGEST_POSITION - len(before)]
    return positions


def looks_sorted(file: BinaryIO, size: int) -> bool:
    """Whether the positions at some places of the file are in order."""
    found = [position_from(file, size * at // SAMPLES) for at in range(SAMPLES)]
    keys = [key for start, key in found if start is not None]
    return keys == sorted(keys)


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
    return read_move_lines(file, key) if found == key else b""


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
    return begin + at, key_of(file.readline(LONGEST_POSITION)[5:])


def read_move_lines(file: BinaryIO, key: bytes) -> bytes:
    """The move lines up to the next position of another key; the same one under other numbers comes before that."""
    moves = b""
    for _ in range(MOST_LINES):
        line = file.readline(LONGEST_POSITION)
        if line.startswith(b"sfen "):
            if key_of(line[5:]) != key:
                break
        else:
            moves += line.replace(b"\r", b"")
        if not line or len(moves) >= LONGEST_POSITION:
            break
    return moves[:LONGEST_POSITION]


def key_of(sfen: bytes) -> bytes:
    """`position_key` of bytes, and of those alone that a position can have."""
    return position_key(sfen[:LONGEST_POSITION].decode("latin-1")).encode("latin-1")


def read_entry(lines: list[str]) -> Entry:
    """The moves of these lines; a line that cannot be read is skipped."""
    moves, bad_line = dict[str, BookMove](), ""
    for line in lines:
        try:
            found = read_move(line)
        except ValueError:
            bad_line = bad_line or line.strip()
            continue
        if found:
            before = moves.get(found.move)
            moves[found.move] = merged(before, found) if before else found
    return Entry(sorted_moves(list(moves.values())), bad_line)


def merged(first: BookMove, second: BookMove) -> BookMove:
    """A move that a position has twice, as its deeper search has it, with the counts of both."""
    deeper = second if second.depth > first.depth else first
    return replace(deeper, count=first.count + second.count)


def read_move(line: str) -> BookMove | None:
    """One move line; missing numbers count as 0. None for a comment or an empty line, ValueError for a bad number."""
    words = COMMENT.sub("", line).split()
    if not words or words[0] in NO_MOVES:
        return None
    reply = words[1] if len(words) > 1 and words[1] not in NO_MOVES else ""
    numbers = [read_integer(word) for word in words[2:5]]
    value, depth, count = numbers + [0] * (3 - len(numbers))
    return BookMove(words[0], reply, value, depth, count)


def read_integer(word: str) -> int:
    """The number. ValueError where the word is none, or has more than 18 digits."""
    if not INTEGER.fullmatch(word):
        raise ValueError(word)
    return int(word)
