"""Tables of coarse.pxd, and the coarser terms folded into those of play; contracts in coarse.pyi."""

import numpy as np

from core_ext.eval.bonapiece cimport BONAPIECES, HALF_SQUARES, HAND_NUMBERS, PAIRS, features, pair_index
from core_ext.eval.symmetry cimport folded_place, sign_between
from core_ext.shogi.types cimport (
    BISHOP, COLORS, DRAGON, GOLD, HORSE, KNIGHT, LANCE, PAWN, ROOK, SILVER, SQUARES, make_piece,
)


cdef void name_kinds() noexcept:
    cdef int *on_board = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, HORSE, ROOK, DRAGON]
    cdef int i, color, square, base
    for i in range(BONAPIECES):
        kinds.kind[i] = kinds.board_kind[i] = -1
    for color in range(COLORS):
        for i in range(PAWN, GOLD + 1):
            base = features.hand_base[color][i]
            for square in range(1, 19 if i == PAWN else 3 if i == BISHOP or i == ROOK else 5):
                kinds.kind[base + square] = i - 1
        for i in range(9):
            base = features.board_base[make_piece(color, on_board[i])]
            for square in range(SQUARES):
                kinds.kind[base + square] = 7 + i
                kinds.board_kind[base + square] = 2 * i + color
                kinds.square[base + square] = square


name_kinds()


cdef void fold_relative_pair(int a, int b) noexcept:
    cdef int inverse_a = features.inverse[a], inverse_b = features.inverse[b], place = offset_between(a, b)
    cdef int ours = min(place, offset_between(features.mirror[a], features.mirror[b]))
    cdef int theirs = min(offset_between(inverse_a, inverse_b),
                          offset_between(features.mirror[inverse_a], features.mirror[inverse_b]))
    relative_pairs.place[place] = min(ours, theirs)
    relative_pairs.sign[place] = sign_between(ours, theirs)


cdef void fold_relative_pairs() noexcept:
    cdef int a, b
    for b in range(HAND_NUMBERS, BONAPIECES):
        for a in range(b):
            if kinds.kind[a] >= 0:
                fold_relative_pair(a, b)


fold_relative_pairs()


def king_rows():
    """Zone and place in the rows of each king square on files 1 to 5."""
    return [(zone_of(king), place_in_row(king)) for king in range(HALF_SQUARES)]


def fold_pieces(values):
    """The 16 piece values to one for each Bonapiece, White's negative."""
    result = np.zeros(BONAPIECES, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] given = np.ascontiguousarray(values, dtype=np.float32)
    cdef int number
    for number in range(BONAPIECES):
        if kinds.kind[number] >= 0:
            out[number] = given[kinds.kind[number]] if is_black(number) else -given[kinds.kind[number]]
    return result


def fold_relative(values):
    """Relative KP as KP, by king on files 1 to 5 and number."""
    result = np.zeros(HALF_SQUARES * BONAPIECES, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] given = np.ascontiguousarray(values, dtype=np.float32)
    cdef int king, number, place
    for king in range(HALF_SQUARES):
        for number in range(BONAPIECES):
            place = offset_place(king, number)
            if place >= 0:
                out[king * BONAPIECES + number] = given[place]
    return result


cdef bint occurs(int a, int b) noexcept:
    """Of two numbers, the first the greater: can both be seen at once?"""
    if kinds.kind[a] < 0 or kinds.kind[b] < 0:
        return False
    return b < HAND_NUMBERS or kinds.square[a] != kinds.square[b]


cdef float weight_of(const float *own, const float *shared, int a, int b, bint for_black) noexcept:
    """Of a pair and its relative one: what they are worth to Black, or to the side to move."""
    cdef float value, sign
    cdef int place = folded_place(a, b, &sign)
    cdef int offset = offset_between(a, b)
    value = own[place] * sign if for_black else own[place]
    if offset >= 0:
        place = relative_pairs.place[offset]
        value += shared[place] * relative_pairs.sign[offset] if for_black else shared[place]
    return value


cdef object spread(pairs, relative, bint for_black):
    result = np.zeros(PAIRS, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] own = np.ascontiguousarray(pairs, dtype=np.float32)
    cdef const float[::1] shared = np.ascontiguousarray(relative, dtype=np.float32)
    cdef float sign
    cdef int a, b
    for a in range(BONAPIECES):
        for b in range(a):
            if occurs(a, b) and (for_black or folded_place(a, b, &sign) == pair_index(a, b)):
                out[pair_index(a, b)] = weight_of(&own[0], &shared[0], a, b, for_black)
    return result


def unfold_pairs(pairs, relative):
    return spread(pairs, relative, True) / 2


def add_relative_turn(pairs, relative):
    return spread(pairs, relative, False)
