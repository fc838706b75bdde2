"""Tables of Bonapiece numbers, feature sets and stack selectors, from which inputs.py makes a network's inputs.

Squares run file by file from 1a; every table is seen from the perspective of one side, whose home ranks are 6 to 8
counted from 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from usi_engine.evaluation.parts import BONAPIECES, SQUARES, FeatureSet, Hands

Table = npt.NDArray[np.int64]

HAND_SIZES = (19, 5, 5, 5, 5, 3, 3)  # numbers of a pawn, lance, knight, silver, gold, bishop, rook in one hand
HAND_END = 2 * sum(HAND_SIZES)
OFFSETS = 17  # differences of files or ranks

_SQUARE = np.arange(SQUARES)
_FILE, _RANK = _SQUARE // 9, _SQUARE % 9
MIRROR_SQUARE: Table = (8 - _FILE) * 9 + _RANK


def piece_views() -> Table:
    """Return the number of each piece as Black sees it, mirrored, as White sees it, mirrored: [4][BONAPIECES]."""
    numbers = np.arange(BONAPIECES)
    inverse, mirror = numbers.copy(), numbers.copy()
    at = 0
    for size in HAND_SIZES:
        inverse[at : at + size] += size
        inverse[at + size : at + 2 * size] -= size
        at += 2 * size
    kind, square = np.divmod(numbers[HAND_END:] - HAND_END, SQUARES)
    inverse[HAND_END:] = HAND_END + (kind ^ 1) * SQUARES + SQUARES - 1 - square
    mirror[HAND_END:] = HAND_END + kind * SQUARES + MIRROR_SQUARE[square]
    inverse[0] = 0  # no piece
    return np.stack([numbers, mirror, inverse, mirror[inverse]])


def offsets(kind: FeatureSet) -> Table:
    """Return the row that each bucket and number on the board shares with equal offsets from the king."""
    king, number = np.arange(kind.buckets)[:, np.newaxis], np.arange(HAND_END, kind.numbers)
    piece, square = np.divmod(number - HAND_END, SQUARES)
    files, ranks = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
    return (piece * OFFSETS + files) * OFFSETS + ranks


def offset_rows(kind: FeatureSet) -> int:
    return (kind.numbers - HAND_END) // SQUARES * OFFSETS**2


def hand_table(classes: Hands) -> Table:
    """Return the bit or the points of each number in the own hand, 0 for all other numbers."""
    table, at = np.zeros(BONAPIECES, np.int64), 0
    for size, value in zip(HAND_SIZES, classes.kinds, strict=True):
        table[at + 1 : at + size] = value
        at += 2 * size
    return table
