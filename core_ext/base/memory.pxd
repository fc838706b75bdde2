"""Memory of the core: large blocks on huge pages if the system grants them, and small blocks.

Every allocation of the core is made here, so that tests of a debug build can let each of them fail.
"""

from core_ext.base.atomic cimport SharedWord

cdef extern from "base/memory.h" nogil:
    # Prefault a new block: make the system back it with memory now.
    void touch_large(void *start, size_t bytes)
    # Zero a block; pages that were never written stay unbacked.
    void clear_large(void *start, size_t bytes)
    void release_large(void *block)

# Return zeroed memory aligned to a huge page, or NULL; `block[0]` gets the pointer for release_large.
cdef void *allocate_large(size_t bytes, void **block) noexcept nogil
# As malloc, calloc and realloc; to be freed by free.
cdef void *allocate(size_t bytes) noexcept nogil
cdef void *allocate_zeroed(size_t count, size_t bytes) noexcept nogil
cdef void *reallocate(void *memory, size_t bytes) noexcept nogil

# Number of allocations so far, and the number of the one that fails (0: none), in a debug build.
cdef SharedWord allocations
cdef SharedWord failing_allocation
