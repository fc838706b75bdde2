from core_ext.learn.nnue_kernels cimport Kernels

cdef const Kernels *portable_kernels() noexcept nogil
