"""Memory of the histories."""

from libc.string cimport memset

from core_ext.base.memory cimport allocate_large
from core_ext.shogi.types cimport int16_t


cdef Histories *allocate_histories(void **block) except NULL:
    cdef Histories *histories = <Histories *>allocate_large(sizeof(Histories), block)
    if histories == NULL:
        raise MemoryError("no memory for the move histories")
    clear_histories(histories)
    return histories


cdef void clear_histories(Histories *histories) noexcept nogil:
    """All zero, but for the continuation histories."""
    cdef size_t i
    cdef int16_t *entry = <int16_t *>histories.continuation
    memset(histories, 0, sizeof(Histories))
    for i in range(sizeof(histories.continuation) // sizeof(int16_t)):
        entry[i] = CONTINUATION_START
