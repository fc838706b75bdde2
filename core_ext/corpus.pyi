from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core_ext.engine import Evaluation

TRAINING_POSITION: np.dtype[Any]
NO_SCORE: int  # -32768
NO_RESULT: int  # 127
RESULT_UNIT: int  # 100

def check_positions(positions: NDArray[Any], first: int = ...) -> None: ...

class GameReader:
    def __init__(self, weights: Evaluation | None = ...) -> None: ...
    def read_game(
        self,
        sfen: str,
        moves: Iterable[str],
        scores: Sequence[int | None],
        result: int,
        game: int,
        positions: NDArray[Any],
        limit: int = ...,
    ) -> int: ...
    def moves_at(self, sfen: str, places: Iterable[int]) -> list[str]: ...
    def places_of(self, sfen: str, moves: Iterable[str]) -> list[int]: ...
    def read_valued_moves(
        self, sfen: str, moves: Iterable[str], values: Iterable[int], positions: NDArray[Any], limit: int = ...
    ) -> int: ...
