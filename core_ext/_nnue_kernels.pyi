import numpy as np
import numpy.typing as npt

from core_ext.board import Board
from core_ext.eval.nnue.network import Network

def evaluate(network: Network, board: Board) -> int: ...
def accumulate_rows(
    sums: npt.NDArray[np.int16],
    rows: npt.NDArray[np.int16],
    removed: npt.NDArray[np.int32],
    added: npt.NDArray[np.int32],
) -> None: ...
def activate(
    sfnn: bool,
    out: npt.NDArray[np.uint8],
    ours: npt.NDArray[np.int16],
    theirs: npt.NDArray[np.int16],
) -> None: ...
def group_of(inputs: int, outputs: int) -> int: ...
def affine(
    out: npt.NDArray[np.int32],
    inputs: npt.NDArray[np.uint8],
    group: int,
    weights: npt.NDArray[np.int8],
    bias: npt.NDArray[np.int32],
    sparse: bool,
) -> None: ...
def dot(inputs: npt.NDArray[np.uint8], weights: npt.NDArray[np.int8]) -> int: ...
def hidden(sfnn: bool, out: npt.NDArray[np.uint8], sums: npt.NDArray[np.int32]) -> None: ...
