"""Books in Apery's format, .bin: entries of 16 bytes, sorted by the key of their position.

cshogi computes the key of a position; rsshogi decodes the bits of a move.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from usi_engine.book.entry import BookError, BookMove, Entry, check_file, sorted_moves
from usi_engine.language import _

LARGEST = 2**40
ENTRY = np.dtype([("key", "<u8"), ("move", "<u2"), ("count", "<u2"), ("value", "<i4")])
MOST_MOVES = 600


class AperyBook:
    """A .bin file, memory-mapped."""

    def __init__(self, path: str) -> None:
        """Open the file. BookError, ImportError."""
        self.path = path
        check_file(path, LARGEST)
        self._cshogi: Any = import_module("cshogi")
        self._rsshogi: Any = import_module("rsshogi.core")
        try:
            self._entries = np.memmap(path, ENTRY, mode="r")
        except (OSError, ValueError) as error:
            message = _("book '{path}' is not in Apery's format: {reason}")
            raise BookError(message.format(path=path, reason=error)) from None

    def probe(self, sfen: str) -> Entry:
        """Return the moves of this position."""
        try:
            board = self._cshogi.Board(sfen)
        except (RuntimeError, ValueError):  # `sfen` is not a position
            return Entry()
        key = np.uint64(board.book_key())
        first = int(np.searchsorted(self._entries["key"], key))
        rows = [row for row in self._entries[first : first + MOST_MOVES] if row["key"] == key]
        return Entry(sorted_moves([self._move(row) for row in rows]))

    def _move(self, row: Any) -> BookMove:
        # Invalid bits become text that is not a legal move, such as `none`.
        text = str(self._rsshogi.AperyMove(int(row["move"])).to_move())
        return BookMove(text, "", int(row["value"]), 0, int(row["count"]))
