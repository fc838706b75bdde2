from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core_ext.engine import Evaluation

RECORD: np.dtype[Any]
NO_SCORE: int  # -32768
NO_RESULT: int  # 2

def check_records(records: NDArray[Any], first: int = ...) -> None: ...

class GameReader:
    def __init__(self, weights: Evaluation | None = ...) -> None: ...
    def read(
        self,
        sfen: str,
        moves: Iterable[str],
        scores: Sequence[int | None],
        result: int,
        game: int,
        records: NDArray[Any],
        limit: int = ...,
    ) -> int: ...
    def read_valued(
        self, sfen: str, moves: Iterable[str], values: Iterable[int], records: NDArray[Any], limit: int = ...
    ) -> int: ...
    def read_reached(self, sfen: str, lines: Iterable[list[str]], records: NDArray[Any]) -> int: ...
