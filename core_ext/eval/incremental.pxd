"""Sums of an evaluation by ply, and the nearest earlier ply that has them.

An evaluator keeps its sums by ply, modulo SUMMED_PLIES, each with the key of its position. do_move and undo_move need
not notify it: a slot is valid if its key is that of the position at its ply.
"""

from core_ext.shogi.position cimport Position, State, game_length, state_key
from core_ext.shogi.types cimport moved_piece, uint64_t

cdef enum:
    SUMMED_PLIES = 256      # a power of two
    NO_KING = -1            # instead of a king, which is a piece


cdef inline int ply_slot(int ply) noexcept nogil:
    return ply & (SUMMED_PLIES - 1)


cdef inline int plies_since_sums(const uint64_t *keys, const Position *pos, int most, int king) noexcept nogil:
    """Return the plies back to the nearest valid slot, 0 to `most`; -1 if none is that near or `king` moved since."""
    cdef const State *one = pos.state
    cdef int ply = game_length(pos), back
    for back in range(min(ply, most) + 1):
        if keys[ply_slot(ply - back)] == state_key(one):
            return back
        if king != NO_KING and moved_piece(one.move) == king:
            return -1
        one -= 1
    return -1
