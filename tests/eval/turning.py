"""Positions turned round and mirrored, as text."""

import re


def cells_of(row):
    return re.findall(r"\+?[A-Za-z]|\d", row)


def mirrored(sfen):
    """Files reflected."""
    board, *rest = sfen.split()
    return " ".join(["/".join("".join(reversed(cells_of(row))) for row in board.split("/")), *rest])


def turned(sfen):
    """The board turned round, colours swapped, the other side to move."""
    board, side, hand, *rest = sfen.split()
    rows = ["".join(reversed(cells_of(row))) for row in reversed(board.split("/"))]
    parts = re.findall(r"\d*[A-Za-z]", hand)
    parts = [part for part in parts if part[-1].islower()] + [part for part in parts if part[-1].isupper()]
    hands = "".join(parts).swapcase() or "-"
    return " ".join(["/".join(rows).swapcase(), "w" if side == "b" else "b", hands, *rest])
