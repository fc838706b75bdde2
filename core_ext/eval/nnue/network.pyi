from typing import Any

import numpy as np
import numpy.typing as npt

INSTRUCTIONS: str

def check_architecture(architecture: Any) -> None: ...
def weight_memory(size: int) -> memoryview: ...

class Network:
    def __init__(
        self,
        architecture: Any,
        bias: memoryview | npt.NDArray[np.int16],
        weight: memoryview | npt.NDArray[np.int16],
        dense: bytes | bytearray | memoryview,
        progress: tuple[int, memoryview | npt.NDArray[np.int32]] | None,
        fv_scale: int,
    ) -> None: ...
    @property
    def architecture(self) -> Any: ...
    @property
    def width(self) -> int: ...
    @property
    def fv_scale(self) -> int: ...
