"""The functions of _nnue_kernels, compiled without intrinsics."""

include "_nnue_kernels.pyx"
