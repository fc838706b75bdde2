"""Memory of the histories."""

from core_ext.base.memory cimport allocate_large, clear_large, touch_large


cdef Histories *allocate_histories(void **block, bint lazy) except NULL:
    cdef Histories *histories = <Histories *>allocate_large(sizeof(Histories), block)
    if histories == NULL:
        raise MemoryError("no memory for the move histories")
    if not lazy:
        touch_large(histories, sizeof(Histories))
    return histories


cdef void clear_low_ply_history(Histories *histories) noexcept nogil:
    clear_large(histories.low_ply, sizeof(histories.low_ply))


cdef void clear_histories(Histories *histories) noexcept nogil:
    clear_large(histories, sizeof(Histories))
