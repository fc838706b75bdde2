"""The journal of an unfinished book: a row for each position searched, so that a stopped run can continue.

A run with the same settings takes its results from the journal, so the book is the same as that of an uninterrupted
run, and a longer run continues a shorter one.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from usi_engine.book.entry import BookError, position_key
from usi_engine.files import INVALID, KeptRows, OtherRowsError
from usi_engine.language import _
from usi_engine.search.results import Score, Variation


class Journal:
    """Results by position. OSError; BookError if the file has other settings or is not a journal."""

    def __init__(self, path: Path, settings: dict[str, str | int | float]) -> None:
        self._found: dict[str, tuple[Variation, ...]] = {}
        try:
            self._kept = KeptRows(path, settings)
        except OtherRowsError as error:
            text = _("'{path}' is not the journal of a book; move it or name another --out")
            if error.conditions is not None:
                text = _("'{path}' was made with other settings; delete it or name another --out")
            raise BookError(text.format(path=path)) from None
        for row in self._kept.rows:
            with suppress(*INVALID):
                sfen, words = row
                lines = [Variation(Score(int(value)), (move, *pv), int(depth)) for value, depth, move, *pv in words]
                self._found[position_key(sfen)] = tuple(lines)

    def __len__(self) -> int:
        return len(self._found)

    def get(self, sfen: str) -> tuple[Variation, ...] | None:
        """Return the lines of this position; None if it was not searched."""
        return self._found.get(position_key(sfen))

    def put(self, sfen: str, lines: tuple[Variation, ...]) -> None:
        """Keep the lines of a position. OSError."""
        self._found[position_key(sfen)] = lines
        self._kept.add([sfen, [[line.value, line.depth, *line.pv[:2]] for line in lines]])
