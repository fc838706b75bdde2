# distutils: define_macros=CORE_EXT_PORTABLE
"""The kernels without intrinsics: a twin that tests run beside those of the target CPU."""

from core_ext.learn.nnue.kernels cimport Kernels, compiled_kernels


cdef const Kernels *portable_kernels() noexcept nogil:
    return &compiled_kernels
