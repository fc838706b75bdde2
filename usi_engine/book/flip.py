"""Positions and moves with the board rotated by 180 degrees and the colours swapped.

A move that is good for Black is good for White in the flipped position, so a book needs only one of the two.
"""

from __future__ import annotations

import re
from dataclasses import replace

from usi_engine.book.entry import BookMove

PIECE_OR_GAP = re.compile(r"\+?[A-Za-z]|[1-9]|/")
FLIPPED = str.maketrans("123456789abcdefghi", "987654321ihgfedcba")  # files and ranks count from the other side


def flip_sfen(sfen: str) -> str:
    """Return the flipped position; the move number stays."""
    board, side, hands, *number = sfen.split()
    pieces = "".join(reversed(PIECE_OR_GAP.findall(board))).swapcase()
    groups = re.findall(r"\d*[A-Za-z]", hands.swapcase())
    hands = "".join(sorted(groups, key=str.islower)) or "-"  # Black's hand comes first
    return " ".join([pieces, "bw"[side == "b"], hands, *number])


def flip_move(move: str) -> str:
    """Return the flipped move; the piece of a drop is a capital letter for both colours."""
    piece, star, square = move.partition("*")
    return f"{piece}*{square.translate(FLIPPED)}" if star else move.translate(FLIPPED)


def flip_book_move(found: BookMove) -> BookMove:
    """Flip move and reply. Values are for the side to move and stay."""
    return replace(found, move=flip_move(found.move), reply=flip_move(found.reply))
