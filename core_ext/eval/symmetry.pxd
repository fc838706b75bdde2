"""Symmetries of the weights: which features share one weight, and the index that represents them.

A position and its mirror image have the same value, and so have both orders of a pair. A king on files 6 to 9 is
mirrored to files 1 to 4. With the king on the middle file, a feature and its mirror image share a weight, the one with
the smaller index. Indices count within a king square: a pair of numbers for KPP, a number for KP, the other king's
square and a number for KKP. In PP, which has no king, the inverse (board rotated, colours swapped) shares as well.
"""

from core_ext.eval.bonapiece cimport BONAPIECES, HALF_SQUARES, LISTED, features, mirror_square, pair_index
from core_ext.shogi.types cimport SQUARES, int32_t

cdef enum:
    MIDDLE_KINGS = 36           # first square of the middle file
    KKP_PER_KING = SQUARES * BONAPIECES
    LANES = 8                   # of a vector
    PADDED_PIECES = (LISTED + LANES - 1) // LANES * LANES
    PADDED_PAIRS = LISTED * (LISTED - 1) // 2 + LANES

# Each number under the four symmetries: itself, its mirror image, its inverse, and the inverse's mirror image. base:
# pair_index(number, 0).
cdef struct PairSymmetries:
    int32_t numbers[4][PADDED_PIECES]
    int32_t base[4][PADDED_PIECES]


cdef inline bint mirrored(int king) noexcept nogil:
    return king >= HALF_SQUARES

cdef inline bint on_middle_file(int king) noexcept nogil:
    return MIDDLE_KINGS <= king < HALF_SQUARES

cdef inline int smaller(int a, int b) noexcept nogil:
    return a if a < b else b

cdef inline int larger(int a, int b) noexcept nogil:
    return a if a > b else b


cdef inline int round_up(int count) noexcept nogil:
    """Round up to a multiple of LANES, so that vector loops have no scalar remainder."""
    return (count + LANES - 1) & -LANES


cdef inline int kpp_index(int king, int a, int b) noexcept nogil:
    """Return the index of a pair, for a king on files 1 to 5."""
    cdef int index = pair_index(a, b)
    if on_middle_file(king):
        return smaller(index, pair_index(features.mirror[a], features.mirror[b]))
    return index


cdef inline int kp_index(int king, int number) noexcept nogil:
    return smaller(number, features.mirror[number]) if on_middle_file(king) else number


cdef inline int kkp_index(int king, int other, int number) noexcept nogil:
    """Return the index of the other king and a piece, from this king's perspective."""
    cdef int index = other * BONAPIECES + number
    if on_middle_file(king):
        return smaller(index, mirror_square(other) * BONAPIECES + features.mirror[number])
    return index


cdef inline void set_symmetries(PairSymmetries *symmetries, int i, int number) noexcept nogil:
    cdef int symmetry
    symmetries.numbers[0][i] = number
    symmetries.numbers[1][i] = features.mirror[number]
    symmetries.numbers[2][i] = features.inverse[number]
    symmetries.numbers[3][i] = features.mirror[features.inverse[number]]
    for symmetry in range(4):
        symmetries.base[symmetry][i] = pair_index(symmetries.numbers[symmetry][i], 0)


cdef inline int symmetric_index(const PairSymmetries *symmetries, int symmetry, int i, int j) noexcept nogil:
    """Return pair_index under one of the four symmetries: the larger of two sums, as the larger number counts more."""
    return larger(symmetries.base[symmetry][i] + symmetries.numbers[symmetry][j],
                  symmetries.base[symmetry][j] + symmetries.numbers[symmetry][i])


cdef inline int mirror_index(const PairSymmetries *symmetries, int color, int i, int j) noexcept nogil:
    """Return the smaller index of a pair and its mirror image, from one colour's perspective."""
    return smaller(symmetric_index(symmetries, 2 * color, i, j),
                   symmetric_index(symmetries, 2 * color + 1, i, j))


cdef inline int sign_between(int ours, int theirs) noexcept nogil:
    return (ours < theirs) - (ours > theirs)


cdef inline void list_canonical_pairs(const int32_t *numbers, int count, int32_t *indices,
                                      float *signs) noexcept nogil:
    """List the PP indices of all pairs, each number with those before it, and the signs of their values for Black.

    The mirror image of a pair has the same value; its inverse has the opposite value for Black and the same tempo value
    for the side to move. A sign is 1 or -1, or 0 if a pair is its own inverse. Whole LANES are written: the next number
    overwrites the excess, or it lies in the last LANES of PADDED_PAIRS.
    """
    cdef PairSymmetries symmetries
    cdef int i, j, ours, theirs
    for i in range(PADDED_PIECES):
        set_symmetries(&symmetries, i, numbers[i] if i < count else 0)
    for i in range(count):
        for j in range(round_up(i)):
            ours, theirs = mirror_index(&symmetries, 0, i, j), mirror_index(&symmetries, 1, i, j)
            indices[j] = smaller(ours, theirs)
            signs[j] = sign_between(ours, theirs)
        indices += i
        signs += i


cdef inline int canonical_pair(int a, int b, float *sign) noexcept nogil:
    """Return the PP index of one pair and the sign of its value for Black, as list_canonical_pairs does."""
    cdef PairSymmetries symmetries
    cdef int ours, theirs
    set_symmetries(&symmetries, 0, a)
    set_symmetries(&symmetries, 1, b)
    ours, theirs = mirror_index(&symmetries, 0, 1, 0), mirror_index(&symmetries, 1, 1, 0)
    sign[0] = sign_between(ours, theirs)
    return smaller(ours, theirs)
