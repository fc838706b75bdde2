"""Tables of factorized.pxd, and the coalescing of factorized weights into those of play."""

import numpy as np

from core_ext.eval.bonapiece cimport BONAPIECES, HALF_SQUARES, HAND_NUMBERS, PAIRS, features, pair_index
from core_ext.eval.symmetry cimport canonical_pair, sign_between
from core_ext.shogi.types cimport *


cdef void set_kinds() noexcept:
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


set_kinds()


cdef void set_relative_pair(int a, int b) noexcept:
    cdef int inverse_a = features.inverse[a], inverse_b = features.inverse[b], index = offset_between(a, b)
    cdef int ours = min(index, offset_between(features.mirror[a], features.mirror[b]))
    cdef int theirs = min(offset_between(inverse_a, inverse_b),
                          offset_between(features.mirror[inverse_a], features.mirror[inverse_b]))
    relative_pairs.index[index] = min(ours, theirs)
    relative_pairs.sign[index] = sign_between(ours, theirs)


cdef void set_relative_pairs() noexcept:
    cdef int a, b
    for b in range(HAND_NUMBERS, BONAPIECES):
        for a in range(b):
            if kinds.kind[a] >= 0:
                set_relative_pair(a, b)


set_relative_pairs()


def king_slots():
    """Return (zone, slot in a KPP row) of each of the king squares on files 1 to 5."""
    return [(king_zone(king), row_slot(king)) for king in range(HALF_SQUARES)]


cdef object of_size(values, Py_ssize_t size):
    """Return the values as a new array of float32. ValueError for another number of them."""
    found = np.array(values, dtype=np.float32, order="C").reshape(-1)
    if found.shape[0] != size:
        raise ValueError(f"{found.shape[0]} weights, {size} expected")
    return found


def coalesce_pieces(values):
    """Return the weights of the KINDS of pieces by Bonapiece number, White's negated: float32[BONAPIECES]. ValueError
    for another number of weights.
    """
    result = np.zeros(BONAPIECES, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] given = of_size(values, KINDS)
    cdef int number
    for number in range(BONAPIECES):
        if kinds.kind[number] >= 0:
            out[number] = given[kinds.kind[number]] if is_black(number) else -given[kinds.kind[number]]
    return result


def coalesce_relative_kp(values):
    """Return the OFFSETS relative KP weights as KP weights by king square and number: float32[HALF_SQUARES x
    BONAPIECES]. ValueError for another number of weights.
    """
    result = np.zeros(HALF_SQUARES * BONAPIECES, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] given = of_size(values, OFFSETS)
    cdef int king, number, index
    for king in range(HALF_SQUARES):
        for number in range(BONAPIECES):
            index = offset_index(king, number)
            if index >= 0:
                out[king * BONAPIECES + number] = given[index]
    return result


cdef bint can_occur(int a, int b) noexcept:
    """Return whether two numbers, a > b, can occur at once."""
    if kinds.kind[a] < 0 or kinds.kind[b] < 0:
        return False
    return b < HAND_NUMBERS or kinds.square[a] != kinds.square[b]


cdef float weight_of(const float *own, const float *shared, int a, int b, bint for_black) noexcept:
    """Return the value of a pair and its relative pair for Black, or their tempo value for the side to move."""
    cdef float value, sign
    cdef int index = canonical_pair(a, b, &sign)
    cdef int offset = offset_between(a, b)
    value = own[index] * sign if for_black else own[index]
    if offset >= 0:
        index = relative_pairs.index[offset]
        value += shared[index] * relative_pairs.sign[offset] if for_black else shared[index]
    return value


cdef object coalesce(pairs, relative, bint for_black):
    result = np.zeros(PAIRS, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] own = of_size(pairs, PAIRS)
    cdef const float[::1] shared = of_size(relative, RELATIVE_PAIRS)
    cdef float sign
    cdef int a, b
    for a in range(BONAPIECES):
        for b in range(a):
            if can_occur(a, b) and (for_black or canonical_pair(a, b, &sign) == pair_index(a, b)):
                out[pair_index(a, b)] = weight_of(&own[0], &shared[0], a, b, for_black)
    return result


def coalesce_pairs(pairs, relative):
    """Return PP and relative PP weights by pair for one king's perspective: half, as both perspectives count.

    ValueError unless there are PAIRS and RELATIVE_PAIRS of them.
    """
    return coalesce(pairs, relative, True) / 2


def coalesce_tempo_pairs(pairs, relative):
    """Return tempo weights of PP and relative PP as one PP weight, at the indices that represent symmetric pairs.

    ValueError as for `coalesce_pairs`.
    """
    return coalesce(pairs, relative, False)
