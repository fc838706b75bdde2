"""Book moves for play: look up the position or the flipped one, skip illegal moves, choose."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.book.choice import Rules, choose
from usi_engine.book.entry import Book, BookError, BookMove
from usi_engine.book.shogihome import ShogiHomeBook
from usi_engine.book.yaneuraou import YaneuraOuBook
from usi_engine.evaluation.names import DATA, INTERNAL
from usi_engine.language import _

if TYPE_CHECKING:
    from core_ext.board import Board

QUOTED = 60  # characters of a bad line in a message
PACKAGED = DATA / "book.db"


def open_book(name: str) -> Book:
    """Open the book that BookFile names: .sbk, .bin, or any other suffix for YaneuraOu's format. BookError."""
    try:
        path = str(PACKAGED if name == INTERNAL else Path(name).expanduser())
    except RuntimeError as error:  # no such user
        raise BookError(_("book '{path}' cannot be read: {reason}").format(path=name, reason=error)) from None
    suffix = Path(path).suffix.lower()
    try:
        if suffix == ".sbk":
            return ShogiHomeBook(path)
        if suffix == ".bin":
            from usi_engine.book.apery import AperyBook  # noqa: PLC0415  (imports numpy)

            return AperyBook(path)
    except ImportError as error:
        library = (error.name or "").partition(".")[0]
        message = _("book '{path}' needs {library}: pip install {library}")
        raise BookError(message.format(path=path, library=library)) from None
    return YaneuraOuBook(path)


class BookPlayer:
    """A book to choose moves from. `tell` gets one sentence about the first fault in it."""

    def __init__(self, book: Book, tell: Callable[[str], None]) -> None:
        self._book, self._tell, self._told = book, tell, False

    def choose(self, board: Board, rules: Rules, rng: random.Random) -> BookMove | None:
        """Return a move to play; None if the book has none that the rules allow."""
        if board.ply > rules.last_ply or rng.random() * 100 < rules.ignored_percent:
            return None
        return choose(self.moves(board, rules.flipped), rules, rng)

    def moves(self, board: Board, flipped: bool) -> list[BookMove]:
        """Return the legal moves, best first; if there are none and `flipped`, those of the flipped position."""
        sfen = board.sfen()
        found = self._legal(board, self._probe(sfen))
        if found or not flipped:
            return found
        # `usi` is answered without a module of the core.
        from core_ext.shogi.notation import flip_sfen  # noqa: PLC0415
        from usi_engine.book.flip import flip_book_move  # noqa: PLC0415

        return self._legal(board, map(flip_book_move, self._probe(flip_sfen(sfen))))

    def _probe(self, sfen: str) -> tuple[BookMove, ...]:
        entry = self._book.probe(sfen)
        if entry.bad_line:
            self._report_fault(entry.bad_line)
        return entry.moves

    def _legal(self, board: Board, moves: Iterable[BookMove]) -> list[BookMove]:
        found = list[BookMove]()
        for move in moves:
            if board.is_legal(move.move):
                found.append(move)
            else:
                self._report_fault(move.move)
        return found

    def _report_fault(self, text: str) -> None:
        if not self._told:
            self._told = True
            self._tell(f"book '{self._book.path}': lines that cannot be played are skipped, such as '{text[:QUOTED]}'")
