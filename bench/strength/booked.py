"""A player that plays from an opening book as long as that holds the position, by the default options of the engine."""

from __future__ import annotations

import random
from typing import Protocol

from core_ext.board import BLACK, Board
from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.book.choice import rules_of
from usi_engine.usi.options import Options


class Thinker(Protocol):
    """A player without a book."""

    def new_game(self) -> None:
        """Forget the last game."""

    def think(self, board: Board) -> tuple[str, int]:
        """Move and value."""


class BookedPlayer:
    """`player` with a book in front of it, as BookFile names it. BookError where that cannot be opened."""

    def __init__(self, player: Thinker, book: str, rng: random.Random) -> None:
        self._player, self._random = player, rng
        self._book = BookPlayer(open_book(book), print)
        options = Options()
        self._rules = {black: rules_of(options, black) for black in (True, False)}

    def new_game(self) -> None:
        """Clear the player's table and histories."""
        self._player.new_game()

    def think(self, board: Board) -> tuple[str, int]:
        """The move and its value for the side to move."""
        chosen = self._book.choose(board, self._rules[board.turn == BLACK], self._random)
        return (chosen.move, chosen.value) if chosen else self._player.think(board)
