from core_ext.learn.nnue.kernels cimport Kernels

cdef const Kernels *portable_kernels() noexcept nogil
