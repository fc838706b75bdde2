"""A book of ShogiGUI and ShogiHome, .sbk, read by rsshogi."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from usi_engine.book.entry import BookError, BookMove, Entry, check_file, sorted_moves

# Of a file, which rsshogi keeps in memory.
LARGEST = 256 * 2**20
# Marks of moves in these books (1: the only move, 2: good) that keep a move from being played: doubtful, a mistake.
BAD_MARKS = (3, 4)


class ShogiHomeBook:
    """A .sbk file. Its moves have weights, which count as how often they were played, and no values."""

    def __init__(self, path: str) -> None:
        """BookError where the file cannot be read, or rsshogi is missing."""
        self.path = path
        check_file(path, LARGEST)
        try:
            self._book: Any = import_module("rsshogi.book").SbkBook.open(path)
        except ImportError as error:
            library = (error.name or "").partition(".")[0]
            raise BookError(f"book '{path}' needs {library}: pip install {library}") from None
        except (ValueError, OSError) as error:
            raise BookError(f"book '{path}' cannot be read: {' '.join(str(error).split())}") from None

    def probe(self, sfen: str) -> Entry:
        """The moves of this position but those that are marked as bad."""
        try:
            found = self._book.lookup_sfen(sfen)
        except (ValueError, RuntimeError) as error:
            return Entry(bad_line=str(error))
        moves = [move for move in found.moves if (move.evaluation or 0) not in BAD_MARKS] if found else []
        return Entry(sorted_moves([BookMove(str(move.mv), "", 0, 0, move.weight or 0) for move in moves]))
