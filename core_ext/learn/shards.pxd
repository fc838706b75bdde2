"""Extraction of training features, split into two shards for two threads; no weight belongs to both shards.

A KPP feature belongs to shard 0 if the sum of its two Bonapiece numbers is even, to shard 1 if it is odd (its mirror
image has the same parity). The rest is split to balance the work: PP, KKP and the KP tempo terms to shard 0;
relative PP and all other terms to shard 1.
"""

from libc.string cimport memset

from core_ext.eval.bonapiece cimport BONAPIECES, LISTED, features, inverse_square, mirror_square, pair_index
from core_ext.eval.symmetry cimport (
    PADDED_PIECES, PADDED_PAIRS, list_canonical_pairs, on_middle_file, larger, mirrored, round_up, smaller,
)
from core_ext.learn.factorized cimport list_relative_pairs
from core_ext.learn.training_position cimport TrainingPosition
from core_ext.shogi.types cimport BLACK, COLORS, WHITE, int32_t

cdef enum:
    SHARDS = 2

# A position from one colour's perspective, mirrored if its king is on files 6 to 9.
cdef struct Perspective:
    int king
    int other
    int count
    int32_t numbers[PADDED_PIECES]    # ascending

# A shard's pairs from one perspective: indices of KPP rows.
cdef struct PairIndices:
    int count
    int32_t indices[PADDED_PAIRS]

# Pairs without a king; an index may occur more than once. The sign is the factor of the value for Black.
cdef struct PairList:
    int count
    int32_t indices[PADDED_PAIRS]
    float signs[PADDED_PAIRS]

# The even or the odd numbers of a perspective and their mirror images; base: pair_index(number, 0).
cdef struct Parity:
    int count
    int32_t numbers[PADDED_PIECES]
    int32_t base[PADDED_PIECES]
    int32_t mirrors[PADDED_PIECES]
    int32_t mirror_base[PADDED_PIECES]

cdef struct Shard:
    PairIndices kpp[COLORS]
    PairList pp


cdef inline void sort_numbers(Perspective *perspective) noexcept nogil:
    """Sort distinct numbers: the rank of each is how many are smaller."""
    cdef int32_t given[PADDED_PIECES]
    cdef int i, j, before
    for i in range(PADDED_PIECES):
        given[i] = perspective.numbers[i] if i < perspective.count else BONAPIECES
    for i in range(perspective.count):
        before = 0
        for j in range(PADDED_PIECES):
            before += given[j] < given[i]
        perspective.numbers[before] = given[i]


cdef inline void set_perspective(const TrainingPosition *position, int color, Perspective *perspective) noexcept nogil:
    cdef int i = 0, number
    cdef bint mirror = mirrored(position.king[color])
    perspective.king = position.king[color]
    perspective.other = inverse_square(position.king[color ^ 1])
    if mirror:
        perspective.king = mirror_square(perspective.king)
        perspective.other = mirror_square(perspective.other)
    while i < LISTED and position.pieces[i]:
        number = position.pieces[i]
        if color == WHITE:
            number = features.inverse[number]
        perspective.numbers[i] = features.mirror[number] if mirror else number
        i += 1
    perspective.count = i
    sort_numbers(perspective)


cdef inline void split_by_parity(const Perspective *perspective, Parity *even, Parity *odd) noexcept nogil:
    cdef Parity *own
    cdef int i, number, mirror
    memset(even, 0, sizeof(Parity))
    memset(odd, 0, sizeof(Parity))
    for i in range(perspective.count):
        number = perspective.numbers[i]
        mirror = features.mirror[number]
        own = odd if number & 1 else even
        own.numbers[own.count] = number
        own.base[own.count] = pair_index(number, 0)
        own.mirrors[own.count] = mirror
        own.mirror_base[own.count] = pair_index(mirror, 0)
        own.count += 1


cdef inline int list_pairs_with(const Parity *own, int i, const Parity *others, int count, bint symmetric,
                                int32_t *indices) noexcept nogil:
    """List the pairs of number `i` with the first `count` of the others; return how many.

    As in list_canonical_pairs the larger of two sums is pair_index, and whole LANES are written.
    """
    cdef int32_t number = own.numbers[i], base = own.base[i], index
    cdef int32_t mirror = own.mirrors[i], mirror_base = own.mirror_base[i]
    cdef int j
    for j in range(round_up(count)):
        indices[j] = larger(base + others.numbers[j], others.base[j] + number)
    if symmetric:
        for j in range(round_up(count)):
            index = larger(mirror_base + others.mirrors[j], others.mirror_base[j] + mirror)
            indices[j] = smaller(indices[j], index)
    return count


cdef inline void list_kpp_pairs(const Perspective *perspective, int shard, PairIndices *pairs) noexcept nogil:
    """List the pairs of two even or two odd numbers (shard 0), or of one of each (shard 1).

    If the king is on the middle file, mirror images share an index.
    """
    cdef Parity even, odd
    cdef int i, n = 0
    cdef bint symmetric = on_middle_file(perspective.king)
    split_by_parity(perspective, &even, &odd)
    if shard == 0:
        for i in range(even.count):
            n += list_pairs_with(&even, i, &even, i, symmetric, pairs.indices + n)
        for i in range(odd.count):
            n += list_pairs_with(&odd, i, &odd, i, symmetric, pairs.indices + n)
    else:
        for i in range(odd.count):
            n += list_pairs_with(&odd, i, &even, even.count, symmetric, pairs.indices + n)
    pairs.count = n


cdef inline void list_pp_pairs(const Perspective *black, int shard, PairList *pairs) noexcept nogil:
    if shard == 0:
        list_canonical_pairs(black.numbers, black.count, pairs.indices, pairs.signs)
        pairs.count = black.count * (black.count - 1) // 2
    else:
        pairs.count = list_relative_pairs(black.numbers, black.count, pairs.indices, pairs.signs)


cdef inline void set_shard(const Perspective *perspectives, int shard, Shard *out) noexcept nogil:
    cdef int color
    for color in range(COLORS):
        list_kpp_pairs(&perspectives[color], shard, &out.kpp[color])
    list_pp_pairs(&perspectives[BLACK], shard, &out.pp)
