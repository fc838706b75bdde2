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


cdef void fill(int16_t *entry, size_t size, int value) noexcept nogil:
    cdef size_t i
    for i in range(size // sizeof(int16_t)):
        entry[i] = value


cdef void clear_low_ply_history(Histories *histories) noexcept nogil:
    fill(<int16_t *>histories.low_ply, sizeof(histories.low_ply), LOW_PLY_START)


cdef void clear_histories(Histories *histories) noexcept nogil:
    """All zero, or at their start values."""
    memset(histories, 0, sizeof(Histories))
    clear_low_ply_history(histories)
    fill(<int16_t *>histories.capture, sizeof(histories.capture), CAPTURE_START)
    fill(<int16_t *>histories.continuation, sizeof(histories.continuation), CONTINUATION_START)
    fill(<int16_t *>histories.pawn, sizeof(histories.pawn), PAWN_HISTORY_START)
