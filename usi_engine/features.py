"""Positions and moves as arrays, for research and training in Python: moves of other programs, planes, labels, masks.

It needs numpy, which play does not import. docs/research.md has examples.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from core_ext.features import (
    BoardBatch,
    FeatureNumbers,
    dlshogi_label,
    dlshogi_move,
    dlshogi_planes,
    feature_indices,
    label_mask,
    label_moves,
    piece_planes,
)
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.parts import FEATURE_SETS

if TYPE_CHECKING:
    from core_ext.features import Boards

__all__ = [
    "BoardBatch", "dlshogi_label", "dlshogi_move", "dlshogi_planes", "from_cshogi", "from_yaneuraou", "label_mask",
    "label_moves", "load_evaluation", "nnue_indices", "piece_planes", "to_cshogi", "to_yaneuraou",
]  # fmt: skip

Moves = TypeVar("Moves", int, NDArray[np.uint16])  # the 16 bits of a move, or an array of them

_DROP_ORIGIN = 81 << 7
_YANEURAOU_DROP, _YANEURAOU_PROMOTION = 1 << 14, 1 << 15
_PROMOTION = 1 << 14


def to_cshogi(moves: Moves) -> Moves:
    """Return the 16 bits of Apery, which cshogi (`move16`), dlshogi and HCPE have: a dropped pawn is 81, not 82."""
    return _with_drops(moves, 82, -1)


def from_cshogi(moves: Moves) -> Moves:
    """Return the moves of cshogi, dlshogi and HCPE. Only the low 16 bits of cshogi's moves count."""
    return _with_drops(moves, 81, 1)


def to_yaneuraou(moves: Moves) -> Moves:
    """Return the 16 bits of YaneuraOu and PSV: a dropped pawn is 1 with bit 14, a promotion has bit 15."""
    wide = np.asarray(moves, np.int64)
    drops = wide - _DROP_ORIGIN + _YANEURAOU_DROP
    return cast(Moves, _narrow(np.where((wide >> 7 & 127) > 81, drops, wide + (wide & _PROMOTION))))


def from_yaneuraou(moves: Moves) -> Moves:
    """Return the moves of YaneuraOu and PSV."""
    wide = np.asarray(moves, np.int64)
    drops = wide - _YANEURAOU_DROP + _DROP_ORIGIN
    return cast(Moves, _narrow(np.where(wide & _YANEURAOU_DROP, drops, wide - (wide & _YANEURAOU_PROMOTION) // 2)))


def _with_drops(moves: Moves, first: int, step: int) -> Moves:
    """Add `step` to the origins from `first` on, which are those of drops."""
    wide = np.asarray(moves, np.int64) & 0x7FFF
    return cast(Moves, _narrow(wide + ((wide >> 7 & 127) >= first) * (step << 7)))


def _narrow(wide: NDArray[np.int64]) -> int | NDArray[np.uint16]:
    return wide.astype(np.uint16) if wide.ndim else int(wide)


_numbers = cache(lambda name: FeatureNumbers(FEATURE_SETS[name]))


def nnue_indices(boards: Boards, feature_set: str, out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """Return the active input features of a network, int32 [n, 2, 38 + kings], the side to move first.

    `feature_set` is a name of FEATURE_SETS in `usi_engine.evaluation.parts`, e.g. `HalfKP`; their numbers are those of
    nn.bin. A piece that a handicap removed has number 0 of the bucket. ValueError for another name or without a king.
    """
    if feature_set not in FEATURE_SETS:
        raise ValueError(f"unknown feature set '{feature_set}': use one of {', '.join(FEATURE_SETS)}")
    return feature_indices(boards, _numbers(feature_set), out)
