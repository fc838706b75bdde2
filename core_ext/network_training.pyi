import numpy as np
from numpy.typing import NDArray

from core_ext.learn.nnue.model import NetworkTrainer as NetworkTrainer

# Phases of NetworkTrainer.work: of a training step, of values alone.
STEP_PHASES: tuple[int, ...]
VALUE_PHASES: tuple[int, ...]

def half_kp_shared_rows() -> NDArray[np.int32]: ...
