"""Memory of the histories."""

from core_ext.base.memory cimport allocate_large, clear_large, touch_large
from core_ext.shogi.types cimport int16_t


cdef Histories *allocate_histories(void **block, bint lazy) except NULL:
    cdef Histories *histories = <Histories *>allocate_large(sizeof(Histories), block)
    if histories == NULL:
        raise MemoryError("no memory for the move histories")
    if not lazy:
        touch_large(histories, sizeof(Histories))
    set_starts(histories)
    return histories


cdef void fill(int16_t *entry, size_t size, int value) noexcept nogil:
    cdef size_t i
    for i in range(size // sizeof(int16_t)):
        entry[i] = value


cdef void clear_low_ply_history(Histories *histories) noexcept nogil:
    fill(<int16_t *>histories.low_ply, sizeof(histories.low_ply), LOW_PLY_START)


cdef void set_starts(Histories *histories) noexcept nogil:
    """The start values of the small tables; those of the large ones are not stored."""
    clear_low_ply_history(histories)
    fill(<int16_t *>histories.capture, sizeof(histories.capture), CAPTURE_START)


cdef void clear_histories(Histories *histories) noexcept nogil:
    clear_large(histories, sizeof(Histories))
    set_starts(histories)
