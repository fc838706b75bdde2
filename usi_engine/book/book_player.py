"""Plays from a book file: finds the position, turned round too, leaves out what is illegal, chooses."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.book.choice import Rules, choose
from usi_engine.book.entry import Book, BookError, BookMove
from usi_engine.book.rotation import turned, turned_sfen
from usi_engine.book.shogihome import ShogiHomeBook
from usi_engine.book.yaneuraou import YaneuraOuBook
from usi_engine.evaluation.names import INTERNAL

if TYPE_CHECKING:
    from core_ext.board import Board

# Characters of a bad line that a message quotes.
QUOTED = 60


def packaged_book() -> Path:
    """The book that comes with the program."""
    return Path(__file__).parents[1] / "data" / "book.db"


def user_path(name: str) -> Path:
    """A path with `~` replaced. BookError where there is no such user."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise BookError(f"book '{name}' cannot be read: {error}") from None


def open_book(name: str) -> Book:
    """The book that a BookFile names, by its suffix: .sbk, .bin, anything else is YaneuraOu's. BookError"""
    path = str(packaged_book() if name == INTERNAL else user_path(name))
    suffix = Path(path).suffix.lower()
    if suffix == ".sbk":
        return ShogiHomeBook(path)
    if suffix == ".bin":
        try:
            from usi_engine.book.apery import AperyBook  # noqa: PLC0415  (brings numpy)
        except ModuleNotFoundError as error:
            raise BookError(f"book '{path}' cannot be read without the Python module '{error.name}'") from None
        return AperyBook(path)
    return YaneuraOuBook(path)


class BookPlayer:
    """Chooses moves from a book. `tell` gets one sentence about the first fault that is found in it."""

    def __init__(self, book: Book, tell: Callable[[str], None]) -> None:
        self._book, self._tell, self._told = book, tell, False

    def choose(self, board: Board, rules: Rules, rng: random.Random) -> BookMove | None:
        """A move to play; None where the book has none that the rules allow."""
        if board.ply > rules.last_ply or rng.random() * 100 < rules.ignored_percent:
            return None
        return choose(self.moves(board, rules.turned), rules, rng)

    def moves(self, board: Board, look_turned: bool) -> list[BookMove]:
        """The legal moves of the position, best first; where there are none and `look_turned`, of the turned one."""
        sfen = board.sfen()
        found = self._legal(board, self._probe(sfen))
        return found or (self._legal(board, map(turned, self._probe(turned_sfen(sfen)))) if look_turned else [])

    def _probe(self, sfen: str) -> tuple[BookMove, ...]:
        entry = self._book.probe(sfen)
        if entry.bad_line:
            self._fault(entry.bad_line)
        return entry.moves

    def _legal(self, board: Board, moves: Iterable[BookMove]) -> list[BookMove]:
        found = list[BookMove]()
        for move in moves:
            if board.is_legal(move.move):
                found.append(move)
            else:
                self._fault(move.move)
        return found

    def _fault(self, text: str) -> None:
        if not self._told:
            self._told = True
            self._tell(f"book '{self._book.path}' has lines that cannot be played, such as '{text[:QUOTED]}'; skipped")
