"""Arrays for vector kernels."""

import numpy as np


def aligned(size: int, kind=np.float32):
    """Zeros that start at a cache line. The system provides their memory when it is first written to."""
    spare = np.zeros(size * np.dtype(kind).itemsize + 64, np.uint8)
    start = -spare.ctypes.data % 64
    return spare[start:start + size * np.dtype(kind).itemsize].view(kind)
