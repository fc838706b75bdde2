"""Memory of weights as an object."""

# Start and size of the memory, and what release_large needs.
cdef class LargeMemory:
    cdef void *start
    cdef void *block
    cdef Py_ssize_t size
