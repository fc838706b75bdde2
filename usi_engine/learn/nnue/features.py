"""Tables of Bonapiece numbers, feature sets and stack selectors, from which inputs.py makes a network's inputs.

Definitions are those of YaneuraOu's networks. Squares run file by file from 1a; every table is seen from the
perspective of one side, whose home ranks are 6 to 8 counted from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core_ext.engine import BONAPIECES, SQUARES

Table = npt.NDArray[np.int64]

HAND_SIZES = (19, 5, 5, 5, 5, 3, 3)  # numbers of a pawn, lance, knight, silver, gold, bishop, rook in one hand
HAND_END = 2 * sum(HAND_SIZES)
MIRRORED_BLOCKS = 45  # king squares of files 1 to 5
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


# ---- feature sets ----


@dataclass(frozen=True)
class FeatureSet:
    """Features of one perspective: `blocks` king squares times `numbers`; `planes` are the kings' own numbers."""

    numbers: int
    planes: tuple[tuple[bool, int], ...] = ()  # (the enemy's king, number on square 0)
    blocks: int = 1

    @property
    def count(self) -> int:
        return self.blocks * self.numbers

    @property
    def active(self) -> int:
        """Active features of a full board."""
        return 38 + len(self.planes)

    @property
    def is_mirrored(self) -> bool:
        return self.blocks == MIRRORED_BLOCKS

    def offsets(self) -> Table:
        """Return the row that each king square and number on the board shares with equal offsets from the king."""
        king, number = np.arange(self.blocks)[:, np.newaxis], np.arange(HAND_END, self.numbers)
        kind, square = np.divmod(number - HAND_END, SQUARES)
        files, ranks = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
        return (kind * OFFSETS + files) * OFFSETS + ranks

    @property
    def offset_rows(self) -> int:
        return (self.numbers - HAND_END) // SQUARES * OFFSETS**2


_MERGED = ((False, BONAPIECES), (True, BONAPIECES))  # both kings on one plane, which they never share
_APART = ((False, BONAPIECES), (True, BONAPIECES + SQUARES))
_A1, _A2 = BONAPIECES + 2 * SQUARES, BONAPIECES + SQUARES
FEATURE_SETS = {
    "K+P": FeatureSet(_A1, _APART),
    "K+A2": FeatureSet(_A2 + 2 * SQUARES, (*_MERGED, (False, _A2), (True, _A2 + SQUARES))),
    "HalfKP": FeatureSet(BONAPIECES, (), SQUARES),
    "HalfKP_vm": FeatureSet(BONAPIECES, (), MIRRORED_BLOCKS),
    "HalfKA1": FeatureSet(_A1, _APART, SQUARES),
    "HalfKA_hm1": FeatureSet(_A1, _APART, MIRRORED_BLOCKS),
    "HalfKA2": FeatureSet(_A2, _MERGED, SQUARES),
    "HalfKA_hm2": FeatureSet(_A2, _MERGED, MIRRORED_BLOCKS),
}

# ---- stack selectors ----


def _zones(before: int, merged: bool, by_file: int) -> Table:
    """Number the zones of a king: ranks `before` the detailed ones, some of them merged, then parts of a rank."""
    ranks = np.where(_RANK < 6, _RANK // 3, _RANK - 4) if merged else _RANK
    first = int(ranks[before == _RANK][0])
    detailed = first + (_RANK - before) * (9 // by_file) + _FILE // by_file
    return np.where(before > _RANK, ranks, detailed)


# The zone of one king on each square; the index is own zone x zones + enemy's zone.
KING_ZONES = {
    "k3k3": _RANK // 3,
    "k9k9": _RANK,
    "k9k9z": _zones(7, True, 3),
    "k13k13z": _zones(7, False, 3),
    "k21k21": _zones(7, True, 1),
    "k29k29": _zones(6, True, 1),
}
# By kind in hand, in the order of HAND_SIZES: the bit that is set if there is one; for hand64z its points.
_HAND_BITS = {
    "hand4": (0, 0, 0, 0, 0, 1, 0),
    "hand16": (1, 0, 0, 0, 0, 2, 0),
    "hand64": (1, 1, 1, 2, 2, 4, 2),
    "hand64z": (1, 2, 2, 3, 3, 5, 5),
    "hand256": (1, 1, 1, 2, 2, 4, 8),
    "hand1024": (1, 2, 2, 4, 4, 8, 16),
}
POINTS = "hand64z"


def hand_table(selector: str) -> Table:
    """Return the bit or the points of each number in the own hand, 0 for all other numbers."""
    table, at = np.zeros(BONAPIECES, np.int64), 0
    for size, bit in zip(HAND_SIZES, _HAND_BITS[selector], strict=True):
        table[at + 1 : at + size] = bit
        at += 2 * size
    return table


# Progress is 256 / (1 + exp(-sum / 65536)), rounded down; these are the sums at which it grows by one.
_SHARES = np.arange(1, 256) / 256
PROGRESS_THRESHOLDS: Table = np.rint(np.log(_SHARES / (1 - _SHARES)) * 65536).astype(np.int64)
