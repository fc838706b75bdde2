"""Large blocks of memory on huge pages where the system grants them."""

cdef extern from "base/memory.h" nogil:
    # Zeroed; `block[0]` is what release_large takes. NULL where there is no memory.
    void *allocate_large(size_t bytes, void **block)
    void release_large(void *block)
