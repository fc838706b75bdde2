"""Piece values by Bonapiece number and their sums; contracts in material.pxd."""

from core_ext.eval.bonapiece cimport LIST_SIZE, PieceLists, features, list_pieces
from core_ext.eval.incremental cimport AFTER, BEFORE, Change, find_change, plies_since_sum, slot_of
from core_ext.shogi.position cimport Position, full_key, game_length
from core_ext.shogi.see cimport see_value
from core_ext.shogi.types cimport BLACK, COLORS, DRAGON, GOLD, HORSE, PAWN, SQUARES, make_piece


cdef void set_hand_values(int color, int piece_type, int value) noexcept:
    cdef int base = features.hand_base[color][piece_type], held
    cdef int most = features.inverse[features.hand_base[BLACK][piece_type]] - features.hand_base[BLACK][piece_type] - 1
    for held in range(1, most + 1):
        piece_values[base + held] = value


cdef void set_piece_values() noexcept:
    cdef int color, piece_type, square, value
    for color in range(COLORS):
        for piece_type in range(PAWN, DRAGON + 1):
            value = see_value(piece_type) if color == BLACK else -see_value(piece_type)
            if piece_type <= GOLD:
                set_hand_values(color, piece_type, value)
            if piece_type <= GOLD or piece_type >= HORSE:
                for square in range(SQUARES):
                    piece_values[features.board_base[make_piece(color, piece_type)] + square] = value


set_piece_values()


cdef int material_for_black(const Position *pos) noexcept nogil:
    cdef PieceLists lists
    cdef int sum = 0, i
    list_pieces(pos, &lists)
    for i in range(LIST_SIZE):
        sum += piece_values[lists.numbers[BLACK][i]]
    return sum


cdef inline void store(MaterialState *state, int ply, uint64_t key, int sum) noexcept nogil:
    state.keys[slot_of(ply)] = key
    state.sums[slot_of(ply)] = sum


cdef inline int gain_for_black(const Change *change) noexcept nogil:
    cdef int gain = 0, i
    for i in range(change.count):
        gain += piece_values[change.number[AFTER][BLACK][i]] - piece_values[change.number[BEFORE][BLACK][i]]
    return gain


cdef int material_value(MaterialState *state, const Position *pos) noexcept nogil:
    cdef int ply = game_length(pos), back = plies_since_sum(state.keys, pos), sum
    cdef Change change
    if back < 0:
        back = 0
        store(state, ply, full_key(pos), material_for_black(pos))
    while back > 0:
        back -= 1
        find_change(pos.state - back, &change, False)
        store(state, ply - back, change.key, state.sums[slot_of(ply - back - 1)] + gain_for_black(&change))
    sum = state.sums[slot_of(ply)]
    return sum if pos.side == BLACK else -sum
