"""Mirror images and inverses of positions, as sfen text."""

from __future__ import annotations

import re


def squares_of(row: str) -> list[str]:
    """The pieces and runs of empty squares of a rank."""
    return re.findall(r"\+?[A-Za-z]|\d", row)


def mirrored(sfen: str) -> str:
    """Files reflected."""
    board, *rest = sfen.split()
    return " ".join(["/".join("".join(reversed(squares_of(row))) for row in board.split("/")), *rest])


def turned(sfen: str) -> str:
    """The board rotated, the colours swapped, the other side to move."""
    board, side, hand, *rest = sfen.split()
    rows = ["".join(reversed(squares_of(row))) for row in reversed(board.split("/"))]
    parts = re.findall(r"\d*[A-Za-z]", hand)
    parts = [part for part in parts if part[-1].islower()] + [part for part in parts if part[-1].isupper()]
    hands = "".join(parts).swapcase() or "-"
    return " ".join(["/".join(rows).swapcase(), "w" if side == "b" else "b", hands, *rest])
