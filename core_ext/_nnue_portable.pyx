include "_nnue_kernels.pyx"
