"""Conversion of HalfKP rows between the trainer and the file.

In the trainer a row is the sum of its own part, the shared row of its piece and that of its offset from the king.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core_ext.engine import BONAPIECES, SQUARES
from core_ext.network_training import NetworkTrainer, half_kp_shared_rows


def rounded_rows(trainer: NetworkTrainer) -> npt.NDArray[np.int16]:
    """Return the sums, rounded as in the forward pass: [king and number][width]."""
    found = np.empty((SQUARES, BONAPIECES, trainer.width), np.int16)
    for king in range(SQUARES):
        found[king] = np.rint(trainer.rows_of_king(king))
    return found.reshape(-1, trainer.width)


def set_rows(trainer: NetworkTrainer, rows: npt.NDArray[Any]) -> None:
    """Split the rows of a file into parts, a tile at a time: shared rows are means, own parts the rest."""
    assert trainer.own_parts is not None
    shared = trainer.blocks(trainer.weights)["transformer"]
    own = trainer.own_parts.rows[:, :, 0]
    of_number, of_offset = np.moveaxis(half_kp_shared_rows(), -1, 0)
    columns = shared.shape[2]
    for tile in range(len(shared)):
        rest = rows[:, tile * columns : (tile + 1) * columns].astype(np.float32).reshape(SQUARES, BONAPIECES, columns)
        for places in (of_number, of_offset):
            rest -= means_by_place(rest, places, shared[tile])
        own[tile] = rest.reshape(own[tile].shape)


def means_by_place(
    rows: npt.NDArray[np.float32], places: npt.NDArray[np.int32], shared: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Store the mean row of each place in `shared`; return each row's mean, 0 if its place is -1."""
    flat = places.reshape(-1)
    order = np.argsort(flat, kind="stable")
    present, starts, counts = np.unique(flat[order], return_index=True, return_counts=True)
    sums = np.add.reduceat(rows.reshape(len(flat), -1)[order], starts, axis=0, dtype=np.float64)
    known = present >= 0
    shared[present[known]] = sums[known] / counts[known, np.newaxis]
    return np.where(places[..., np.newaxis] < 0, np.float32(0), shared[places])
