"""A book of Apery's format, .bin: entries of 16 bytes sorted by the key of their position, read by numpy and cshogi."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from usi_engine.book.entry import BookError, BookMove, Entry, check_file, sorted_moves

LARGEST = 2**40
MISSING = "reading a .bin book needs cshogi (the extra `book`): pip install cshogi"
ENTRY = np.dtype([("key", "<u8"), ("move", "<u2"), ("count", "<u2"), ("value", "<i4")])
MOST_MOVES = 600
SQUARES = [file + rank for file in "123456789" for rank in "abcdefghi"]
DROPPED = "PLNSBRG"


class AperyBook:
    """A .bin file, which stays on the disk."""

    def __init__(self, path: str) -> None:
        """BookError where the file cannot be read, or cshogi is missing."""
        self.path = path
        check_file(path, LARGEST)
        try:
            self._cshogi: Any = import_module("cshogi")
            self._entries = np.memmap(path, ENTRY, mode="r")
        except ImportError:
            raise BookError(f"book '{path}': {MISSING}") from None
        except (OSError, ValueError) as error:
            raise BookError(f"book '{path}' is not of Apery's format: {error}") from None

    def probe(self, sfen: str) -> Entry:
        """The moves of this position."""
        try:
            board = self._cshogi.Board(sfen)
        except (RuntimeError, ValueError):  # no position
            return Entry()
        key = np.uint64(board.book_key())
        first = int(np.searchsorted(self._entries["key"], key))
        rows = [row for row in self._entries[first : first + MOST_MOVES] if row["key"] == key]
        moves = [(usi_move(int(row["move"])), row) for row in rows]
        found = [BookMove(move, "", int(row["value"]), 0, int(row["count"])) for move, row in moves if move]
        return Entry(sorted_moves(found))


def usi_move(bits: int) -> str:
    """USI's text of a move of 16 bits, "" where they are none: destination, origin << 7, promotion << 14.

    Squares count from 0 at 1a down the files; the origin of a drop is 81 and its place in DROPPED.
    """
    to, origin, promotes = bits & 127, bits >> 7 & 127, bits >> 14
    if to >= len(SQUARES) or origin >= len(SQUARES) + len(DROPPED) or origin == to or promotes > 1:
        return ""
    if origin >= len(SQUARES):
        return "" if promotes else f"{DROPPED[origin - len(SQUARES)]}*{SQUARES[to]}"
    return SQUARES[origin] + SQUARES[to] + "+" * promotes
