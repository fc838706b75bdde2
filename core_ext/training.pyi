"""The model that learns from records (records.pyi). Values and weights are in LOGIT centipawns."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOGIT: int  # 600
SIZES: dict[str, int]  # weights of each term
ROW: int  # 8 weights, of which a zone of five kings uses six

def king_zones() -> NDArray[np.int64]:
    """The zone of each square for a king of its own colour, 81 numbers from 0 to 10; mirror images share one."""

class Block:
    """Zeroed memory on huge pages, a buffer of bytes. MemoryError where it cannot be had."""

    def __init__(self, size: int) -> None: ...

class Meeting:
    """Where two threads exchange their parts of each value; good for one call by each."""

class Trainer:
    """The float model. Terms: `piece` and any of the others of SIZES; pairs know the turn all or none.

    ValueError, MemoryError.
    """

    def __init__(self, terms: Iterable[str]) -> None: ...
    @property
    def terms(self) -> tuple[str, ...]: ...
    def learn(
        self, records: NDArray[Any], steps: Sequence[float], scale: float = ..., result_share: float = ...
    ) -> float:
        """One pass of Adagrad in the records' order, without the GIL.

        Returns the sum of the squared errors of the chances before each step. Steps: of pieces, king-piece,
        king-king-piece, pair, pair by king zone, triple, pair of the turn, relative pair, relative pair of the turn.
        The target is the chance that the score means on a logistic of `scale` centipawns, mixed with the result. The
        same calls give the same bytes.
        """
    def learn_part(
        self,
        part: int,
        meeting: Meeting,
        records: NDArray[Any],
        steps: Sequence[float],
        scale: float = ...,
        result_share: float = ...,
    ) -> float:
        """What `learn` does, to the byte, by two threads: one calls with part 0, one with 1, and the rest alike.

        Each waits for the other at every position: alone it never returns. ValueError for another part.
        """
    def values(self, records: NDArray[Any]) -> NDArray[np.float32]:
        """For Black, in LOGIT centipawns."""
    def cells(self, name: str) -> NDArray[np.float32]:
        """The weights of a term (column 0) and their sums of squared gradients (column 1), in place. KeyError.

        `tempo` has two: of games, and of positions without a game. `kpp` is [zone][pair][ROW]: the weight that the zone
        shares, then those of its kings, whose places coarse.king_rows tells. Pairs without a king (`pp`, `relative_pp`,
        and theirs of the turn) are used at folded places only.
        """
