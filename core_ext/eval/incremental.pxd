"""Shared parts of incremental evaluation: what a move changes in the features, and the nearest earlier ply with sums.

An evaluator keeps its sums by ply, modulo SUMMED_PLIES, each with the key of its position. do_move and undo_move need
not notify it: a slot is valid if its key is that of the position at its ply.
"""

from core_ext.eval.bonapiece cimport features, new_bonapiece, old_bonapiece
from core_ext.shogi.position cimport Dirty, Position, State, find_dirty, game_length, state_key
from core_ext.shogi.types cimport BLACK, COLORS, KING, NO_MOVE, WHITE, color_of, int32_t, type_of, uint64_t

cdef enum:
    SUMMED_PLIES = 256      # a power of two
    MAX_UPDATES = 4         # in a row; one of them costs about a quarter of a full KPP sum

cdef enum:
    BEFORE = 0
    AFTER = 1

# What a move or taking it back changes: a king's square, and the Bonapiece numbers of other pieces.
cdef struct Change:
    uint64_t key                # of the position after
    int king                    # colour of the king that moves; -1: none
    int king_square             # its destination, from Black's perspective
    int count                   # of numbers: 0 to 2
    int32_t number[2][COLORS][2]    # [BEFORE or AFTER][perspective][which]


cdef inline int slot_of(int ply) noexcept nogil:
    return ply & (SUMMED_PLIES - 1)


cdef inline int plies_since_sum(const uint64_t *keys, const Position *pos) noexcept nogil:
    """Return the plies back to the nearest valid slot, 0 to MAX_UPDATES; -1 if none is that near."""
    cdef int ply = game_length(pos), back
    for back in range(min(ply, MAX_UPDATES) + 1):
        if keys[slot_of(ply - back)] == state_key(pos.state - back):
            return back
    return -1


cdef inline bint has_parent(const Position *pos) noexcept nogil:
    return pos.state != pos.states and pos.state.move != NO_MOVE

cdef inline void set_number(Change *change, int when, int which, int number) noexcept nogil:
    change.number[when][BLACK][which] = number
    change.number[when][WHITE][which] = features.inverse[number]


cdef inline void find_change(const State *state, Change *change, bint undo) noexcept nogil:
    """Find the change by the move that led to `state` or, with `undo`, by taking it back."""
    cdef Dirty dirty
    cdef int i
    find_dirty(state, &dirty)
    change.key = state_key(state - undo)
    change.count = 0
    change.king = -1
    for i in range(dirty.count):
        if type_of(dirty.changed[i].old_piece) == KING:
            change.king = color_of(dirty.changed[i].old_piece)
            change.king_square = dirty.changed[i].old_square if undo else dirty.changed[i].new_square
        else:
            set_number(change, AFTER if undo else BEFORE, change.count, old_bonapiece(&dirty.changed[i]))
            set_number(change, BEFORE if undo else AFTER, change.count, new_bonapiece(&dirty.changed[i]))
            change.count += 1
