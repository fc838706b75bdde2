"""Sums of an evaluation by ply, and the nearest earlier ply that has them.

An evaluator keeps its sums by ply, modulo SUMMED_PLIES, each with the key of its position. do_move and undo_move need
not notify it: a slot is valid if its key is that of the position at its ply.
"""

from core_ext.shogi.position cimport Position, game_length, state_key
from core_ext.shogi.types cimport uint64_t

cdef enum:
    SUMMED_PLIES = 256      # a power of two
    MAX_UPDATES = 4         # in a row; one of them costs about a quarter of a full KPP sum


cdef inline int slot_of(int ply) noexcept nogil:
    return ply & (SUMMED_PLIES - 1)


cdef inline int plies_since_sum(const uint64_t *keys, const Position *pos) noexcept nogil:
    """Return the plies back to the nearest valid slot, 0 to MAX_UPDATES; -1 if none is that near."""
    cdef int ply = game_length(pos), back
    for back in range(min(ply, MAX_UPDATES) + 1):
        if keys[slot_of(ply - back)] == state_key(pos.state - back):
            return back
    return -1
