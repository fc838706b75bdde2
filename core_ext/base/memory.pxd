"""Large zeroed blocks of memory, on huge pages if the system grants them."""

cdef extern from "base/memory.h" nogil:
    # Return zeroed memory aligned to a huge page, or NULL; `block[0]` gets the pointer for release_large.
    void *allocate_large(size_t bytes, void **block)
    # Make the system back a new block with memory now instead of at the first writes.
    void touch_large(void *start, size_t bytes)
    # Zero a block; pages that were never written stay unbacked.
    void clear_large(void *start, size_t bytes)
    void release_large(void *block)
