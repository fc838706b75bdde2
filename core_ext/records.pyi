"""Positions to learn from.

Records are numpy arrays of dtype RECORD: key, game (0: of no game, never held out), pieces (38 Bonapiece numbers as Black
sees them, 0 behind the last), ply, score (centipawns for Black, NO_SCORE where there is none), king (both, as each colour
sees its own), side to move, result (1 Black won, -1 White, 0 draw, NO_RESULT where it is not known, and then there is a
score).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core_ext.engine import Weights

RECORD: np.dtype[Any]
NO_SCORE: int  # -32768
NO_RESULT: int  # 2

class GameReader:
    """Replays games; every move is checked.

    With `weights`, a position that is not in check gives also the quiet end of the best line of captures from it, as these
    weights see it, with the same value; where a capture was chosen and none seems to pay, nothing.
    """

    def __init__(self, weights: Weights | None = ...) -> None: ...
    def read(
        self,
        sfen: str,
        moves: Iterable[str],
        scores: Iterable[int | None],
        result: int,
        game: int,
        records: NDArray[Any],
        limit: int = ...,
    ) -> int:
        """Write the quiet positions into `records` while they have room for two more; returns how many.

        Quiet: not in check, |score| < limit, the move chosen no capture. Scores are for the side to move; None: none.
        ValueError where a move is illegal; 0 where a king is missing.
        """
    def read_valued(
        self, sfen: str, moves: Iterable[str], values: Iterable[int], records: NDArray[Any], limit: int = ...
    ) -> int:
        """The positions after each of the moves from one position, valued for the side that makes them; returns how many.

        Only settled ones: not in check, no capture wins material by static exchange, |value| < limit. Game 0, no result.
        ValueError where a move is illegal; 0 where a king is missing.
        """
