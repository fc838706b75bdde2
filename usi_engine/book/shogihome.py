"""Books of ShogiGUI and ShogiHome, .sbk, read by rsshogi."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from usi_engine.book.entry import BookError, BookMove, Entry, check_file, sorted_moves
from usi_engine.language import _

LARGEST = 256 * 2**20  # bytes; rsshogi reads the whole file into memory
BAD_MARKS = (3, 4)  # doubtful, mistake; 1 is the only move, 2 a good one


class ShogiHomeBook:
    """A .sbk file. Its moves have no values; their weights are taken as counts."""

    def __init__(self, path: str) -> None:
        """Read the file. BookError, ImportError."""
        self.path = path
        check_file(path, LARGEST)
        try:
            self._book: Any = import_module("rsshogi.book").SbkBook.open(path)
        except (ValueError, OSError) as error:
            reason = " ".join(str(error).split())
            raise BookError(_("book '{path}' cannot be read: {reason}").format(path=path, reason=reason)) from None

    def probe(self, sfen: str) -> Entry:
        """Return the moves of this position that are not marked as bad."""
        try:
            found = self._book.lookup_sfen(sfen)
        except (ValueError, RuntimeError) as error:
            return Entry(bad_line=str(error))
        moves = [move for move in found.moves if (move.evaluation or 0) not in BAD_MARKS] if found else []
        return Entry(sorted_moves([BookMove(str(move.mv), "", 0, 0, move.weight or 0) for move in moves]))
