"""Books that other libraries read: .sbk of ShogiGUI and ShogiHome (rsshogi), .bin of Apery (cshogi and rsshogi)."""

from importlib import import_module
from typing import Any

from usi_engine.book.entry import BookMove, Entry, open_book_file, sorted_moves

LARGEST_SBK = 256 * 2**20  # bytes; rsshogi reads the whole file into memory
BAD_MARKS = (3, 4)  # doubtful, mistake; 1 is the only move, 2 a good one
LARGEST_BIN = 2**40
# An entry of 16 bytes of a .bin; they are sorted by the key of their position.
ENTRY = [("key", "<u8"), ("move", "<u2"), ("count", "<u2"), ("value", "<i4")]
MOST_MOVES = 600


class ShogiHomeBook:
    """A .sbk file. Its moves have no values; their weights are taken as counts."""

    def __init__(self, path: str) -> None:
        """Read the file. BookError, ImportError."""
        self.path = path
        with open_book_file(path, LARGEST_SBK):
            self._book: Any = import_module("rsshogi.book").SbkBook.open(path)

    def probe(self, sfen: str) -> Entry:
        """Return the moves of this position that are not marked as bad."""
        try:
            found = self._book.lookup_sfen(sfen)
        except (ValueError, RuntimeError) as error:
            return Entry(faults=(str(error),))
        moves = [move for move in found.moves if (move.evaluation or 0) not in BAD_MARKS] if found else []
        return Entry(sorted_moves([BookMove(str(move.mv), "", 0, 0, move.weight or 0) for move in moves]))


class AperyBook:
    """A .bin file, memory-mapped. cshogi computes the key of a position; rsshogi decodes the bits of a move."""

    def __init__(self, path: str) -> None:
        """Open the file. BookError, ImportError."""
        self.path = path
        self._numpy: Any = import_module("numpy")
        self._cshogi: Any = import_module("cshogi")
        self._rsshogi: Any = import_module("rsshogi.core")
        with open_book_file(path, LARGEST_BIN):
            self._entries = self._numpy.memmap(path, ENTRY, mode="r")

    def probe(self, sfen: str) -> Entry:
        """Return the moves of this position."""
        try:
            board = self._cshogi.Board(sfen)
        except (RuntimeError, ValueError):  # `sfen` is not a position
            return Entry()
        key = self._numpy.uint64(board.book_key())
        first = int(self._numpy.searchsorted(self._entries["key"], key))
        rows = [row for row in self._entries[first : first + MOST_MOVES] if row["key"] == key]
        return Entry(sorted_moves([self._move(row) for row in rows]))

    def _move(self, row: Any) -> BookMove:
        # Invalid bits become text that is not a legal move, such as `none`.
        text = str(self._rsshogi.AperyMove(int(row["move"])).to_move())
        return BookMove(text, "", int(row["value"]), 0, int(row["count"]))
