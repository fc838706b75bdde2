"""Positions and moves with the board turned round and the colours exchanged.

What is good for Black in a position is good for White in the turned one: a book that holds one of them serves both.
"""

from __future__ import annotations

import re
from dataclasses import replace

from usi_engine.book.entry import BookMove

PIECE_OR_GAP = re.compile(r"\+?[A-Za-z]|[1-9]|/")
# Files count from the other side, ranks too.
TURNED = str.maketrans("123456789abcdefghi", "987654321ihgfedcba")


def turned_sfen(sfen: str) -> str:
    """The turned position; the number of the move stays."""
    board, side, hands, *number = sfen.split()
    pieces = "".join(reversed(PIECE_OR_GAP.findall(board))).swapcase()
    # In an sfen, Black's pieces in hand come first.
    groups = re.findall(r"\d*[A-Za-z]", hands.swapcase())
    hands = "".join(sorted(groups, key=str.islower)) or "-"
    return " ".join([pieces, "bw"[side == "b"], hands, *number])


def turned_move(move: str) -> str:
    """The turned move; a drop's piece is a capital letter for both colours."""
    piece, star, square = move.partition("*")
    return f"{piece}*{square.translate(TURNED)}" if star else move.translate(TURNED)


def turned(found: BookMove) -> BookMove:
    """The turned move and reply. Values are for the side to move and stay."""
    return replace(found, move=turned_move(found.move), reply=turned_move(found.reply))
