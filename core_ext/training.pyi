from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core_ext.learn.half_kp import shared_rows as half_kp_shared_rows
from core_ext.learn.nnue_model import NetworkTrainer as NetworkTrainer

LOGIT: int  # 600
SIZES: dict[str, int]  # parameters of each term
ROW_SIZE: int  # 8, of which a zone of five kings uses six
TEMPO_OF: dict[str, str]

NNUE_FV_SCALE: int  # 16, output units of a network in a centipawn
# Phases of NetworkTrainer.work: of a training step, of a gradient alone, of values alone.
STEP_PHASES: tuple[int, ...]
GRADIENT_PHASES: tuple[int, ...]
VALUE_PHASES: tuple[int, ...]

def coalesce_pairs(pairs: NDArray[np.float32], relative: NDArray[np.float32]) -> NDArray[np.float32]: ...
def coalesce_pieces(values: NDArray[np.float32]) -> NDArray[np.float32]: ...
def coalesce_relative_kp(values: NDArray[np.float32]) -> NDArray[np.float32]: ...
def coalesce_tempo_pairs(pairs: NDArray[np.float32], relative: NDArray[np.float32]) -> NDArray[np.float32]: ...
def king_slots() -> list[tuple[int, int]]: ...
def king_zones() -> NDArray[np.int64]: ...

class Block:
    def __init__(self, size: int) -> None: ...

class Rendezvous: ...

class Trainer:
    def __init__(self, terms: Iterable[str]) -> None: ...
    @property
    def terms(self) -> tuple[str, ...]: ...
    def learn(
        self, records: NDArray[Any], rates: Sequence[float], scale: float = ..., result_share: float = ...
    ) -> float: ...
    def learn_shard(
        self,
        shard: int,
        rendezvous: Rendezvous,
        records: NDArray[Any],
        rates: Sequence[float],
        scale: float = ...,
        result_share: float = ...,
    ) -> float: ...
    def values(self, records: NDArray[Any]) -> NDArray[np.float32]: ...
    def parameters(self, name: str) -> NDArray[np.float32]: ...
