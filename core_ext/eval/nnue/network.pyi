from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

INSTRUCTIONS: str
FEATURE_COUNTS: dict[str, int]

class Shape(Protocol):
    """An architecture; the attributes are described in usi_engine.evaluation.architecture."""

    @property
    def features(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def hidden1(self) -> int: ...
    @property
    def hidden2(self) -> int: ...
    @property
    def sfnn(self) -> bool: ...
    @property
    def hands(self) -> str: ...
    @property
    def kings(self) -> str: ...
    @property
    def progress(self) -> str: ...
    @property
    def common(self) -> int: ...
    @property
    def shards(self) -> int: ...

def check_architecture(architecture: Shape) -> None: ...

class Network:
    def __init__(
        self,
        architecture: Shape,
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
