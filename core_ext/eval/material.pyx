"""Piece values and their sums; contracts in material.pxd."""

from core_ext.eval.incremental cimport NO_KING, plies_since_sums, ply_slot
from core_ext.shogi.hand cimport hand_count
from core_ext.shogi.position cimport Dirty, Position, find_dirty, full_key, game_length, state_key
from core_ext.shogi.see cimport see_value
from core_ext.shogi.types cimport BLACK, COLORS, DRAGON, GOLD, KING, PAWN, SQUARES, WHITE, int32_t, make_piece, uint64_t

cdef enum:
    MAX_SUMMED_MOVES = 4    # in a row; more cost as much as a full sum


cdef void set_usual_values() noexcept:
    cdef int piece_type
    for piece_type in range(PAWN, DRAGON + 1):
        if piece_type != KING:
            usual_values[make_piece(BLACK, piece_type)] = see_value(piece_type)
            usual_values[make_piece(WHITE, piece_type)] = -see_value(piece_type)


set_usual_values()


cdef int material_for_black(const int32_t *values, const Position *pos) noexcept nogil:
    cdef int sum = 0, square, color, piece_type
    for square in range(SQUARES):
        sum += values[pos.board[square]]
    for color in range(COLORS):
        for piece_type in range(PAWN, GOLD + 1):
            sum += values[make_piece(color, piece_type)] * hand_count(pos.state.hand[color], piece_type)
    return sum


cdef inline void store(MaterialState *state, int ply, uint64_t key, int sum) noexcept nogil:
    state.keys[ply_slot(ply)] = key
    state.sums[ply_slot(ply)] = sum


cdef inline int gain_for_black(const int32_t *values, const Dirty *dirty) noexcept nogil:
    cdef int gain = 0, i
    for i in range(dirty.count):
        gain += values[dirty.changed[i].new_piece] - values[dirty.changed[i].old_piece]
    return gain


cdef int material_value(MaterialState *state, const Position *pos) noexcept nogil:
    cdef int ply = game_length(pos), back = plies_since_sums(state.keys, pos, MAX_SUMMED_MOVES, NO_KING), sum
    cdef Dirty dirty
    if back < 0:
        back = 0
        store(state, ply, full_key(pos), material_for_black(state.values, pos))
    while back > 0:
        back -= 1
        find_dirty(pos.state - back, &dirty)
        sum = state.sums[ply_slot(ply - back - 1)] + gain_for_black(state.values, &dirty)
        store(state, ply - back, state_key(pos.state - back), sum)
    sum = state.sums[ply_slot(ply)]
    return sum if pos.side == BLACK else -sum
