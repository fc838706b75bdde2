import numpy as np
import numpy.typing as npt

def decode(
    data: bytes | memoryview, numbers: memoryview | npt.NDArray[np.int16], factor: int
) -> None: ...
def encode(numbers: memoryview | npt.NDArray[np.int16], factor: int) -> bytes: ...
