"""Training of networks (NNUE) from training positions (core_ext.corpus)."""

from core_ext.learn.nnue import half_kp as _half_kp
from core_ext.learn.nnue import model as _model

NetworkTrainer = _model.NetworkTrainer
half_kp_shared_rows = _half_kp.shared_rows
STEP_PHASES = _model.STEP
VALUE_PHASES = _model.VALUES
