"""Moves of a book position as text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from usi_engine.book.book_player import BookPlayer, allowed, open_book, rules_of
from usi_engine.columns import aligned
from usi_engine.core import load_core
from usi_engine.language import _, chosen
from usi_engine.records.notation import name_moves
from usi_engine.usi.options import Options
from usi_engine.usi.output import printable

if TYPE_CHECKING:
    from core_ext.board import Board
    from usi_engine.book.entry import BookMove

# Widths of the columns; negative: the text is on the left.
WIDTHS = (-6, -6, 6, 6, 7, 7)
JAPANESE_WIDTHS = (-14, -14, 6, 6, 7, 7)


def table(name: str, board: Board) -> list[str]:
    """Return a row for each move, with its share under the default options; no rows without moves. BookError."""
    player = BookPlayer(open_book(name), lambda fault: print(printable(fault), file=sys.stderr))
    rules = rules_of(Options(), board.turn == load_core().black)
    moves = player.moves(board, rules.flipped)
    weights = {move: max(move.count, 1) for move in allowed(moves, rules)}
    total = sum(weights.values())
    shares = [f"{100 * weights.get(move, 0) / max(total, 1):.0f} %" for move in moves]
    rows = [
        (*shown(board, move), f"{move.value:+d}", str(move.depth), str(move.count), share)
        for move, share in zip(moves, shares, strict=True)
    ]
    titles = (_("move"), _("reply"), _("value"), _("depth"), _("count"), _("played"))
    widths = JAPANESE_WIDTHS if chosen() == "ja" else WIDTHS
    return [aligned(row, widths, " ") for row in (titles, *rows)] if rows else []


def shown(board: Board, move: BookMove) -> tuple[str, str]:
    """Return the move and the reply: in USI, or as ▲７六歩 in Japanese."""
    if chosen() != "ja":
        return move.move, move.reply or "-"
    named = name_moves(board, [text for text in (move.move, move.reply) if text])
    first, second = [*(one.text for one in named), "-", "-"][:2]
    return first, second
