"""Memory of weights in whole huge pages, because weights are read at random."""

from cpython.buffer cimport PyBuffer_FillInfo

from core_ext.base.memory cimport allocate_large, release_large

cdef enum:
    HUGE_PAGE = 2 << 20


cdef class LargeMemory:
    """Zeroed memory as a buffer of `size` bytes. ValueError for a size below 1, MemoryError."""

    def __cinit__(self, Py_ssize_t size):
        if size < 1:
            raise ValueError(f"memory of {size} bytes")
        self.size = size
        self.start = allocate_large((<size_t>size + HUGE_PAGE - 1) // HUGE_PAGE * HUGE_PAGE, &self.block)
        if self.start == NULL:
            raise MemoryError(f"no memory for {size >> 20} MB of weights")

    def __dealloc__(self):
        release_large(self.block)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.start, self.size, False, flags)
