from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

INSTRUCTIONS: str
FEATURE_COUNTS: dict[str, int]

def check_sizes(width: int, hidden1: int, hidden2: int) -> None: ...

class Network:
    def __init__(
        self,
        features: str,
        bias: memoryview | npt.NDArray[np.int16],
        weight: memoryview | npt.NDArray[np.int16],
        layers: Sequence[tuple[memoryview | npt.NDArray[np.int32], memoryview | npt.NDArray[np.int8]]],
        fv_scale: int,
    ) -> None: ...
    @property
    def features(self) -> str: ...
    @property
    def hidden(self) -> tuple[int, int]: ...
    @property
    def width(self) -> int: ...
    @property
    def fv_scale(self) -> int: ...
