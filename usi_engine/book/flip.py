"""Book moves of the flipped position: rotated by 180 degrees with the colours swapped.

A move that is good for Black is good for White in the flipped position, so a book needs only one of the two.
"""

from __future__ import annotations

from dataclasses import replace

from core_ext.shogi.notation import flip_move
from usi_engine.book.entry import BookMove


def flip_book_move(found: BookMove) -> BookMove:
    """Flip move and reply. Values are for the side to move and stay."""
    return replace(found, move=flip_move(found.move), reply=flip_move(found.reply))
