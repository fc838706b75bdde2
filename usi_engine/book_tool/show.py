"""Moves of a book position as text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.book.choice import allowed, rules_of
from usi_engine.columns import padded
from usi_engine.core import load_core
from usi_engine.language import _
from usi_engine.usi.options import Options

if TYPE_CHECKING:
    from core_ext.board import Board

WIDTHS = (-6, -6, 6, 6, 7, 7)  # of the columns; negative: the text is on the left


def table(name: str, board: Board) -> list[str]:
    """Return a row for each move, with its share under the default options; no rows without moves. BookError."""
    player = BookPlayer(open_book(name), lambda fault: print(fault, file=sys.stderr))
    rules = rules_of(Options(), board.turn == load_core().black)
    moves = player.moves(board, rules.flipped)
    weights = {move: max(move.count, 1) for move in allowed(moves, rules)}
    total = sum(weights.values())
    rows = [
        f"{move.move:<6} {move.reply or '-':<6} {move.value:>6} {move.depth:>6} {move.count:>7}"
        f" {100 * weights.get(move, 0) / max(total, 1):>5.0f} %"
        for move in moves
    ]
    return [heading(), *rows] if rows else []


def heading() -> str:
    """Return the titles of the columns."""
    titles = (_("move"), _("reply"), _("value"), _("depth"), _("count"), _("played"))
    return " ".join(padded(title, width) for title, width in zip(titles, WIDTHS, strict=True))
