"""Which weights share one number: the mirror image of a position and both orders of a pair weigh the same.

A king on files 6 to 9 is looked at in the mirror. With the king on the middle file both images stand for the same, and
the one with the smaller place is kept. "Places" count within a king square's share: a pair of numbers for KPP, a number
for KP, the other king's square and a number for KKP. Where no king matters, pairs of both colours share as well.
"""

from core_ext.eval.bonapiece cimport BONAPIECES, HALF_SQUARES, LISTED, features, mirror_square, pair_index
from core_ext.shogi.types cimport SQUARES, int32_t

cdef enum:
    MIDDLE_KINGS = 36           # first square of the middle file
    KKP_SHARE = SQUARES * BONAPIECES
    LANES = 8                   # numbers or pairs that loops take at a time
    LISTED_ROOM = (LISTED + LANES - 1) // LANES * LANES
    PAIR_ROOM = LISTED * (LISTED - 1) // 2 + LANES

# Of numbers as they are, mirrored, as the other colour sees them, and both; with the place of a pair with number 0.
cdef struct PairImages:
    int32_t numbers[4][LISTED_ROOM]
    int32_t first[4][LISTED_ROOM]


cdef inline bint mirrored(int king) noexcept nogil:
    return king >= HALF_SQUARES


cdef inline bint in_the_middle(int king) noexcept nogil:
    return MIDDLE_KINGS <= king < HALF_SQUARES


cdef inline int smaller(int a, int b) noexcept nogil:
    return a if a < b else b


cdef inline int larger(int a, int b) noexcept nogil:
    return a if a > b else b


cdef inline int round_up(int count) noexcept nogil:
    """To whole LANES: loops over so many leave no rest to be done one by one."""
    return (count + LANES - 1) & -LANES


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


cdef inline void set_images(PairImages *images, int i, int number) noexcept nogil:
    cdef int image
    images.numbers[0][i] = number
    images.numbers[1][i] = features.mirror[number]
    images.numbers[2][i] = features.inverse[number]
    images.numbers[3][i] = features.mirror[features.inverse[number]]
    for image in range(4):
        images.first[image][i] = pair_index(images.numbers[image][i], 0)


cdef inline int image_place(const PairImages *images, int image, int i, int j) noexcept nogil:
    """pair_index of one image: the larger of the two sums, for it grows faster with its larger number."""
    return larger(images.first[image][i] + images.numbers[image][j], images.first[image][j] + images.numbers[image][i])


cdef inline int colour_place(const PairImages *images, int colour, int i, int j) noexcept nogil:
    """The smaller place of a pair and its mirror image, as one colour sees them."""
    return smaller(image_place(images, 2 * colour, i, j), image_place(images, 2 * colour + 1, i, j))


cdef inline int sign_between(int ours, int theirs) noexcept nogil:
    return (ours < theirs) - (ours > theirs)


cdef inline void fold_pairs(const int32_t *numbers, int count, int32_t *places, float *signs) noexcept nogil:
    """Of all pairs of the numbers, the later ones with those before them, where no king matters.

    In the mirror a pair weighs the same; seen by the other colour it is worth the same to the side to move, and the
    opposite to Black: signs are 1 or -1, and 0 of a pair that is its own image. Eight pairs are taken at a time: what
    runs over is overwritten, or lies in the last LANES places of PAIR_ROOM.
    """
    cdef PairImages images
    cdef int i, j, ours, theirs
    for i in range(LISTED_ROOM):
        set_images(&images, i, numbers[i] if i < count else 0)
    for i in range(count):
        for j in range(round_up(i)):
            ours, theirs = colour_place(&images, 0, i, j), colour_place(&images, 1, i, j)
            places[j] = smaller(ours, theirs)
            signs[j] = sign_between(ours, theirs)
        places += i
        signs += i


cdef inline int folded_place(int a, int b, float *sign) noexcept nogil:
    """Of one such pair."""
    cdef PairImages images
    cdef int ours, theirs
    set_images(&images, 0, a)
    set_images(&images, 1, b)
    ours, theirs = colour_place(&images, 0, 1, 0), colour_place(&images, 1, 1, 0)
    sign[0] = sign_between(ours, theirs)
    return smaller(ours, theirs)
