"""Which weights share one number: the mirror image of a position and both orders of a pair weigh the same.

A king on files 6 to 9 is looked at in the mirror. With the king on the middle file both images stand for the same, and
the one with the smaller place is kept. "Places" count within a king square's share: a pair of numbers for KPP, a number
for KP, the other king's square and a number for KKP. Where no king matters, pairs of both colours share as well.
"""

from core_ext.features cimport BONAPIECES, HALF_SQUARES, LISTED, features, mirror_square, pair_index
from core_ext.types cimport SQUARES, int32_t

cdef enum:
    MIDDLE_KINGS = 36           # first square of the middle file
    KKP_SHARE = SQUARES * BONAPIECES


cdef inline bint mirrored(int king) noexcept nogil:
    return king >= HALF_SQUARES


cdef inline bint in_the_middle(int king) noexcept nogil:
    return MIDDLE_KINGS <= king < HALF_SQUARES


cdef inline int smaller(int a, int b) noexcept nogil:
    return a if a < b else b


cdef inline int pair_place(int king, int a, int b) noexcept nogil:
    """Of a pair seen by a king on files 1 to 5."""
    cdef int place = pair_index(a, b)
    if in_the_middle(king):
        return smaller(place, pair_index(features.mirror[a], features.mirror[b]))
    return place


cdef inline int piece_place(int king, int number) noexcept nogil:
    return smaller(number, features.mirror[number]) if in_the_middle(king) else number


cdef inline int king_pair_place(int king, int other, int number) noexcept nogil:
    """Of the other king, as this one sees it, and a piece."""
    cdef int place = other * BONAPIECES + number
    if in_the_middle(king):
        return smaller(place, mirror_square(other) * BONAPIECES + features.mirror[number])
    return place


cdef inline void fold_pairs(const int32_t *numbers, int count, int32_t *places, float *signs) noexcept nogil:
    """Of all pairs of the numbers, the later ones with those before them, where no king matters.

    In the mirror a pair weighs the same; seen by the other colour it is worth the same to the side to move, and the
    opposite to Black: signs are 1 or -1, and 0 of a pair that is its own image.
    """
    cdef int32_t seen[4][LISTED]
    cdef int i, j, ours, theirs, n = 0
    for i in range(count):
        seen[0][i] = numbers[i]
        seen[1][i] = features.mirror[numbers[i]]
        seen[2][i] = features.inverse[numbers[i]]
        seen[3][i] = features.mirror[seen[2][i]]
    for i in range(count):
        for j in range(i):
            ours = smaller(pair_index(seen[0][i], seen[0][j]), pair_index(seen[1][i], seen[1][j]))
            theirs = smaller(pair_index(seen[2][i], seen[2][j]), pair_index(seen[3][i], seen[3][j]))
            places[n + j] = smaller(ours, theirs)
            signs[n + j] = (ours < theirs) - (ours > theirs)
        n += i


cdef inline int folded_place(int a, int b, float *sign) noexcept nogil:
    """Of one such pair."""
    cdef int32_t *pair = [a, b]
    cdef int32_t place
    fold_pairs(pair, 2, &place, sign)
    return place
