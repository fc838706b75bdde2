"""What a position shows to the model that learns, in two parts that share no weight: two threads can work on one each.

A triple belongs to the first part where the numbers of its pieces add up to an even number, to the second where they
do not; that is the same for its mirror image. The rest is dealt out so that both are about as much work: the pairs that
know no king as they stand, KKP and KP of the turn to the first, the pairs by offset and all other terms to the second.
"""

from libc.string cimport memset

from core_ext.learn.factorized cimport list_relative_pairs
from core_ext.eval.bonapiece cimport BONAPIECES, LISTED, features, inverse_square, mirror_square, pair_index
from core_ext.eval.symmetry cimport (
    LISTED_ROOM, PAIR_ROOM, fold_pairs, in_the_middle, larger, mirrored, round_up, smaller,
)
from core_ext.learn.record cimport Record
from core_ext.shogi.types cimport BLACK, COLORS, WHITE, int32_t

cdef enum:
    PARTS = 2

# What one king sees, on files 1 to 5 by mirroring.
cdef struct View:
    int king
    int other
    int count
    int32_t numbers[LISTED_ROOM]    # ascending

# A part's pairs of one view: the rows of its triples.
cdef struct PairPlaces:
    int count
    int32_t places[PAIR_ROOM]

# Pairs that know no king, some of them perhaps the same; the sign says for whom the first weight counts.
cdef struct PairList:
    int count
    int32_t places[PAIR_ROOM]
    float signs[PAIR_ROOM]

# The even or the odd numbers of a view, and their mirror images; of each, the place of its pair with number 0.
cdef struct Parity:
    int count
    int32_t numbers[LISTED_ROOM]
    int32_t first[LISTED_ROOM]
    int32_t images[LISTED_ROOM]
    int32_t image_first[LISTED_ROOM]

cdef struct Part:
    PairPlaces seen[COLORS]
    PairList pairs


cdef inline void sort_numbers(View *view) noexcept nogil:
    """No two are the same, so each goes behind as many as are smaller."""
    cdef int32_t given[LISTED_ROOM]
    cdef int i, j, before
    for i in range(LISTED_ROOM):
        given[i] = view.numbers[i] if i < view.count else BONAPIECES
    for i in range(view.count):
        before = 0
        for j in range(LISTED_ROOM):
            before += given[j] < given[i]
        view.numbers[before] = given[i]


cdef inline void set_view(const Record *record, int color, View *view) noexcept nogil:
    cdef int i = 0, number
    cdef bint turn = mirrored(record.king[color])
    view.king = record.king[color]
    view.other = inverse_square(record.king[color ^ 1])
    if turn:
        view.king = mirror_square(view.king)
        view.other = mirror_square(view.other)
    while i < LISTED and record.pieces[i]:
        number = record.pieces[i]
        if color == WHITE:
            number = features.inverse[number]
        view.numbers[i] = features.mirror[number] if turn else number
        i += 1
    view.count = i
    sort_numbers(view)


cdef inline void part_by_parity(const View *view, Parity *even, Parity *odd) noexcept nogil:
    """The numbers of a view and of its mirror image, each with the place of its pair with number 0."""
    cdef Parity *side
    cdef int i, number, image
    memset(even, 0, sizeof(Parity))
    memset(odd, 0, sizeof(Parity))
    for i in range(view.count):
        number = view.numbers[i]
        image = features.mirror[number]
        side = odd if number & 1 else even
        side.numbers[side.count] = number
        side.first[side.count] = pair_index(number, 0)
        side.images[side.count] = image
        side.image_first[side.count] = pair_index(image, 0)
        side.count += 1


cdef inline int list_with(const Parity *side, int i, const Parity *others, int count, bint fold,
                          int32_t *places) noexcept nogil:
    """Number `i` with the first `count` of the others; returns how many.

    As in fold_pairs the larger of two sums is pair_index, and the last eight places may run over.
    """
    cdef int32_t number = side.numbers[i], first = side.first[i], place
    cdef int32_t image = side.images[i], image_first = side.image_first[i]
    cdef int j
    for j in range(round_up(count)):
        places[j] = larger(first + others.numbers[j], others.first[j] + number)
    if fold:
        for j in range(round_up(count)):
            place = larger(image_first + others.images[j], others.image_first[j] + image)
            places[j] = smaller(places[j], place)
    return count


cdef inline void list_pairs(const View *view, int part, PairPlaces *seen) noexcept nogil:
    """Pairs of two even or two odd numbers (part 0), or of one of each (part 1).

    Seen from the middle file, mirror images share a place.
    """
    cdef Parity even, odd
    cdef int i, n = 0
    cdef bint fold = in_the_middle(view.king)
    part_by_parity(view, &even, &odd)
    if part == 0:
        for i in range(even.count):
            n += list_with(&even, i, &even, i, fold, seen.places + n)
        for i in range(odd.count):
            n += list_with(&odd, i, &odd, i, fold, seen.places + n)
    else:
        for i in range(odd.count):
            n += list_with(&odd, i, &even, even.count, fold, seen.places + n)
    seen.count = n


cdef inline void list_shared_pairs(const View *black, int part, PairList *pairs) noexcept nogil:
    if part == 0:
        fold_pairs(black.numbers, black.count, pairs.places, pairs.signs)
        pairs.count = black.count * (black.count - 1) // 2
    else:
        pairs.count = list_relative_pairs(black.numbers, black.count, pairs.places, pairs.signs)


cdef inline void set_part(const View *views, int part, Part *out) noexcept nogil:
    """Of a position as both colours see it."""
    cdef int color
    for color in range(COLORS):
        list_pairs(&views[color], part, &out.seen[color])
    list_shared_pairs(&views[BLACK], part, &out.pairs)
