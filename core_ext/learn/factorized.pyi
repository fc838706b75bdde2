"""Zones of kings, and the coarser terms folded into those of play."""

import numpy as np
from numpy.typing import NDArray

def king_rows() -> list[tuple[int, int]]:
    """The zone and the place in the rows of each of the 45 king squares."""

def fold_pieces(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The 16 piece values to one for each Bonapiece, White's negative."""

def fold_relative(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Relative KP as KP, by king on files 1 to 5 and number."""

def unfold_pairs(pairs: NDArray[np.float32], relative: NDArray[np.float32]) -> NDArray[np.float32]:
    """Folded pairs and relative pairs as PP of one king's view, by pair: half, because both kings' views have them."""

def add_relative_turn(pairs: NDArray[np.float32], relative: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same for the turn: PP at folded places, with what the relative pairs add."""
