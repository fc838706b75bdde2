"""Books in YaneuraOu's text format, `#YANEURAOU-DB2016 1.00`.

    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1
    2g2f 8c8d 25 20 1
    7g7f 3c3d 10 20 3

A line that begins with `sfen` is a position; the lines below are its moves: move, reply, value for the side to move,
depth, count. The same position under several move numbers is one entry; if it has a move twice, the deeper search
counts. A small file is read into memory. A large file is searched on the disk and must be sorted by the bytes of its
positions, as YaneuraOu writes it.
"""

import re
from dataclasses import replace
from io import BufferedIOBase
from pathlib import Path

from usi_engine.book.entry import BookMove, Entry, open_book_file, position_key, sorted_moves
from usi_engine.evaluation.names import Fault
from usi_engine.language import _
from usi_engine.usi.output import excerpt

MARK = b"#YANEURAOU-DB2016"
BOM = b"\xef\xbb\xbf"  # may come before MARK
READ_WHOLE_UP_TO = 32 * 2**20  # bytes
LARGEST = 2**48
# Limits for one position, so that a probe is quick whatever the file contains. No position has 600 legal moves.
LONGEST_POSITION = 32 * 2**10  # bytes
MOST_MOVES = 600
MOST_LINES = 2 * MOST_MOVES  # including `sfen` lines with other move numbers
SAMPLES = 64  # offsets in a large file at which its order is checked
COMMENT = re.compile(r"(#|//).*")
INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
NO_MOVES = frozenset({"none", "resign", "win", "0000"})


class YaneuraOuBook:
    """A .db file. Probing never raises."""

    def __init__(self, path: str) -> None:
        """Open or read the file. BookError."""
        self.path = path
        with open_book_file(path, LARGEST) as (file, self._size):
            if not file.readline(LONGEST_POSITION).removeprefix(BOM).startswith(MARK):
                raise Fault(_("it does not begin with {mark}").format(mark=MARK.decode()))
            self._positions = read_positions(file.read()) if self._size <= READ_WHOLE_UP_TO else None
            if self._positions is None and not looks_sorted(file, self._size):
                most = READ_WHOLE_UP_TO >> 20
                raise Fault(_("it is not sorted; a book of more than {most} MB must be").format(most=most))

    def probe(self, sfen: str) -> Entry:
        """Return the moves of this position."""
        key = read_key(sfen.encode("utf-8", "replace"))
        text = self._on_disk(key) if self._positions is None else self._positions.get(key, b"")
        return read_entry(text.decode("ascii", "replace").splitlines()[:MOST_LINES])

    def _on_disk(self, key: bytes) -> bytes:
        try:
            with Path(self.path).open("rb") as file:
                return search_sorted(file, self._size, key)
        except OSError:
            return b""


def read_positions(text: bytes) -> dict[bytes, bytes]:
    """Return the move lines of each position by its key."""
    positions: dict[bytes, bytes] = {}
    for block in (b"\n" + text.replace(b"\r", b"")).split(b"\nsfen ")[1:]:
        head, end, moves = block.partition(b"\n")
        key = read_key(head)
        before = positions.get(key, b"")
        positions[key] = before + (moves + end)[: LONGEST_POSITION - len(before)]
    return positions


def looks_sorted(file: BufferedIOBase, size: int) -> bool:
    """Return True if the positions at SAMPLES offsets are in order."""
    found = [position_from(file, size * at // SAMPLES) for at in range(SAMPLES)]
    keys = [key for start, key in found if start is not None]
    return keys == sorted(keys)


def search_sorted(file: BufferedIOBase, size: int, key: bytes) -> bytes:
    """Find the move lines of the position by bisection; empty if it is not in the file."""
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


def position_from(file: BufferedIOBase, offset: int) -> tuple[int | None, bytes]:
    """Return offset and key of the first `sfen` line at or after `offset`, and leave the file at the next line.

    Return None and an empty key if there is none in LONGEST_POSITION bytes.
    """
    begin = max(offset - 1, 0)
    file.seek(begin)
    text = file.read(LONGEST_POSITION)
    at = text.find(b"\nsfen ") + 1
    if not at:
        return None, b""
    file.seek(begin + at)
    return begin + at, read_key(file.readline(LONGEST_POSITION)[5:])


def read_move_lines(file: BufferedIOBase, key: bytes) -> bytes:
    """Read the move lines up to the next position with another key."""
    moves = b""
    for _line in range(MOST_LINES):
        line = file.readline(LONGEST_POSITION)
        if line.startswith(b"sfen "):
            if read_key(line[5:]) != key:
                break
        else:
            moves += line.replace(b"\r", b"")
        if not line or len(moves) >= LONGEST_POSITION:
            break
    return moves[:LONGEST_POSITION]


def read_key(sfen: bytes) -> bytes:
    """Return the `position_key` of the first LONGEST_POSITION bytes."""
    return position_key(sfen[:LONGEST_POSITION].decode("latin-1")).encode("latin-1")


def read_entry(lines: list[str]) -> Entry:
    """Return the moves of these lines, and the faults of those that cannot be read."""
    moves, faults = dict[str, BookMove](), list[str]()
    for line in lines:
        try:
            found = read_move(line)
        except ValueError as error:
            faults.append(f"'{excerpt(line)}': {error}")
            continue
        if found:
            before = moves.get(found.move, found)
            deeper, count = (found if found.depth > before.depth else before), before.count + found.count
            moves[found.move] = replace(deeper, count=count) if found.move in moves else found
    return Entry(sorted_moves(list(moves.values())), tuple(faults))


def read_move(line: str) -> BookMove | None:
    """Read a move line; missing numbers, and `none`, are 0. None for a comment or an empty line.

    ValueError for a bad number.
    """
    words = COMMENT.sub("", line).split()
    if not words or words[0] in NO_MOVES:
        return None
    reply = words[1] if len(words) > 1 and words[1] not in NO_MOVES else ""
    numbers = ["0" if word == "none" else word for word in words[2:5]]
    for number in numbers:
        if not INTEGER.fullmatch(number):
            raise ValueError(f"'{excerpt(number)}' is not a whole number")
    value, depth, count = [*map(int, numbers), 0, 0, 0][:3]
    return BookMove(words[0], reply, value, depth, count)
