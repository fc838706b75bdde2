"""The allocations, and their count."""

from libc.stdlib cimport calloc, malloc, realloc

from core_ext.base.atomic cimport add_to_word, load_word
from core_ext.base.debug cimport DEBUGGING

cdef extern from "base/memory.h" nogil:
    void *map_large(size_t bytes, void **block)


cdef inline bint count_allocation() noexcept nogil:
    """In a debug build, count an allocation; return whether it is the one that must fail."""
    if not DEBUGGING:
        return False
    add_to_word(&allocations, 1)
    return load_word(&allocations) == load_word(&failing_allocation)


cdef void *allocate_large(size_t bytes, void **block) noexcept nogil:
    block[0] = NULL
    return NULL if count_allocation() else map_large(bytes, block)


cdef void *allocate(size_t bytes) noexcept nogil:
    return NULL if count_allocation() else malloc(bytes)


cdef void *allocate_zeroed(size_t count, size_t bytes) noexcept nogil:
    return NULL if count_allocation() else calloc(count, bytes)


cdef void *reallocate(void *memory, size_t bytes) noexcept nogil:
    return NULL if count_allocation() else realloc(memory, bytes)
