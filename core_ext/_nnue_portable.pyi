from core_ext._nnue_kernels import *  # noqa: F403
