"""Large zeroed blocks of memory, on huge pages if the system grants them."""

cdef extern from "base/memory.h" nogil:
    # NULL if there is no memory; `block[0]` gets the pointer for release_large.
    void *allocate_large(size_t bytes, void **block)
    # Have the system back a new block with memory now, and not at the first writes.
    void touch_large(void *start, size_t bytes)
    # Zero a block; memory of it that was never written to stays unbacked.
    void clear_large(void *start, size_t bytes)
    void release_large(void *block)
