"""Bitboards of two 64-bit words, and the attacks of every piece.

Layout: `low` holds files 1 to 7 (squares 0 to 62), `high` files 8 and 9 (squares 63 to 80 in bits 0 to 17). A file is
nine neighbouring bits, rank a lowest, so Black's forward step is a shift down by one.

The tables of sliding attacks fit into the first-level cache and need no PEXT. A diagonal crosses a rank at most once,
so the sum of its nine-bit file groups (one multiplication; the two groups of `high` fall into free bits) is its
occupancy by rank. A table of 9 x 128 words maps this occupancy to the attacked ranks, repeated in every group; the mask
of the diagonal selects the squares. These are chess's kindergarten bitboards (G. McCarthy, 2006) in groups of nine.
"""

from core_ext.shogi.types cimport *

cdef extern from "base/simd.h" nogil:
    int lowest_bit(uint64_t word) noexcept
    int count_bits(uint64_t word) noexcept
    void prefetch(const void *address) noexcept
    void store_sums(uint16_t *out, const uint16_t *words, int addend) noexcept

cdef enum:
    LOW_SQUARES = 63

cdef struct Bitboard:
    uint64_t low
    uint64_t high

cdef struct BitboardTables:
    Bitboard square[SQUARES + 1]            # [NO_SQUARE] is empty
    Bitboard step[2][PIECE_TYPES][SQUARES]  # attacks by a step; a slider's entry has its first steps only
    Bitboard forward[2][SQUARES]            # a lance on an empty board
    Bitboard rook_lines[SQUARES]            # rook and bishop on an empty board
    Bitboard bishop_lines[SQUARES]
    Bitboard rising[SQUARES]                # the two diagonals, without the square itself
    Bitboard falling[SQUARES]
    Bitboard between[SQUARES][SQUARES]      # squares strictly between two on a line; else empty
    Bitboard line[SQUARES][SQUARES]         # the whole line through two squares; else empty
    Bitboard near_king[2][SQUARES]          # origins of enemy steps to a square next to the colour's king
    Bitboard promotion_zone[2]
    Bitboard drop_ranks[2][PIECE_TYPES]     # squares from which the piece has a move left
    uint64_t spread[9][128]                 # [rank][occupancy of ranks b-h]: attacked ranks, repeated in seven groups
    Bitboard rank_attacks[9][128]           # [file][occupancy of files 2-8]: attacked squares on rank a
    uint16_t file_attacks[9][128]           # [rank][occupancy of ranks b-h]: attacked ranks

cdef BitboardTables tables

# Return the set of an iterable of squares. Slow: for tables and tests.
cdef Bitboard to_bitboard(object squares)

cdef extern from *:
    """
    #define GROUP_SUM UINT64_C(0x0040201008040201)      /* bit 0 of each nine-bit group */
    #define RANK_GATHER UINT64_C(0x0101010101010100)    /* brings bit 9i to bit 56 + i */
    #define LOW_MASK UINT64_C(0x7fffffffffffffff)
    #define HIGH_MASK UINT64_C(0x3ffff)
    """
    const uint64_t GROUP_SUM
    const uint64_t RANK_GATHER
    const uint64_t LOW_MASK
    const uint64_t HIGH_MASK


cdef inline Bitboard make(uint64_t low, uint64_t high) noexcept nogil:
    cdef Bitboard result
    result.low = low
    result.high = high
    return result


cdef inline Bitboard empty() noexcept nogil:
    return make(0, 0)

cdef inline Bitboard all_squares() noexcept nogil:
    return make(LOW_MASK, HIGH_MASK)


cdef inline Bitboard both(Bitboard a, Bitboard b) noexcept nogil:
    """Return the intersection."""
    return make(a.low & b.low, a.high & b.high)


cdef inline Bitboard either(Bitboard a, Bitboard b) noexcept nogil:
    """Return the union."""
    return make(a.low | b.low, a.high | b.high)


cdef inline Bitboard differ(Bitboard a, Bitboard b) noexcept nogil:
    """Return the symmetric difference."""
    return make(a.low ^ b.low, a.high ^ b.high)


cdef inline Bitboard without(Bitboard a, Bitboard b) noexcept nogil:
    """Return the squares of `a` that are not in `b`."""
    return make(a.low & ~b.low, a.high & ~b.high)


cdef inline bint some(Bitboard a) noexcept nogil:
    return (a.low | a.high) != 0

cdef inline bint meet(Bitboard a, Bitboard b) noexcept nogil:
    return ((a.low & b.low) | (a.high & b.high)) != 0

cdef inline bint same(Bitboard a, Bitboard b) noexcept nogil:
    return a.low == b.low and a.high == b.high


cdef inline bint many(Bitboard a) noexcept nogil:
    """Return whether there are at least two squares."""
    return (a.low & (a.low - 1)) != 0 or (a.high & (a.high - 1)) != 0 or (a.low != 0 and a.high != 0)


cdef inline int count(Bitboard a) noexcept nogil:
    return count_bits(a.low) + count_bits(a.high)

cdef inline bint has(Bitboard a, int square) noexcept nogil:
    return meet(a, tables.square[square])


cdef inline int lowest(Bitboard a) noexcept nogil:
    """Return the lowest square of a set that is not empty."""
    return lowest_bit(a.low) if a.low else LOW_SQUARES + lowest_bit(a.high)


cdef inline int pop(Bitboard *a) noexcept nogil:
    """Remove and return the lowest square of a set that is not empty."""
    cdef int square
    if a.low:
        square = lowest_bit(a.low)
        a.low &= a.low - 1
        return square
    square = LOW_SQUARES + lowest_bit(a.high)
    a.high &= a.high - 1
    return square


cdef inline int diagonal_index(Bitboard occupied, Bitboard diagonal) noexcept nogil:
    cdef uint64_t cells = (occupied.low & diagonal.low) | (occupied.high & diagonal.high)
    return (cells * GROUP_SUM >> 55) & 127


cdef inline Bitboard diagonal_attacks(int rank, Bitboard occupied, Bitboard diagonal) noexcept nogil:
    cdef uint64_t ranks = tables.spread[rank][diagonal_index(occupied, diagonal)]
    return make(ranks & diagonal.low, ranks & diagonal.high)


cdef inline Bitboard bishop_attacks(int square, Bitboard occupied) noexcept nogil:
    cdef int rank = rank_of(square)
    return either(diagonal_attacks(rank, occupied, tables.rising[square]),
                  diagonal_attacks(rank, occupied, tables.falling[square]))


cdef inline Bitboard rank_attacks(int square, Bitboard occupied) noexcept nogil:
    cdef int rank = rank_of(square)
    cdef int index = (((occupied.low >> rank) & GROUP_SUM) * RANK_GATHER >> 57) & 63
    cdef Bitboard on_first
    index |= ((occupied.high >> rank) & 1) << 6
    on_first = tables.rank_attacks[file_of(square)][index]
    return make(on_first.low << rank, on_first.high << rank)


cdef inline Bitboard file_attacks(int square, Bitboard occupied) noexcept nogil:
    cdef int rank = rank_of(square)
    cdef int base = square - rank
    cdef uint64_t ranks
    if base < LOW_SQUARES:
        ranks = tables.file_attacks[rank][(occupied.low >> base >> 1) & 127]
        return make(ranks << base, 0)
    ranks = tables.file_attacks[rank][(occupied.high >> (base - LOW_SQUARES) >> 1) & 127]
    return make(0, ranks << (base - LOW_SQUARES))


cdef inline Bitboard rook_attacks(int square, Bitboard occupied) noexcept nogil:
    return either(rank_attacks(square, occupied), file_attacks(square, occupied))

cdef inline Bitboard lance_attacks(int color, int square, Bitboard occupied) noexcept nogil:
    return both(file_attacks(square, occupied), tables.forward[color][square])


cdef inline Bitboard promotion_targets(int color, int origin, Bitboard targets) noexcept nogil:
    """Return the squares of `targets` on which a piece from `origin` may promote."""
    return targets if has(tables.promotion_zone[color], origin) else both(targets, tables.promotion_zone[color])


cdef inline Bitboard attacks(int color, int piece_type, int square, Bitboard occupied) noexcept nogil:
    if piece_type == LANCE:
        return lance_attacks(color, square, occupied)
    if piece_type == BISHOP:
        return bishop_attacks(square, occupied)
    if piece_type == ROOK:
        return rook_attacks(square, occupied)
    if piece_type == HORSE:
        return either(bishop_attacks(square, occupied), tables.step[BLACK][KING][square])
    if piece_type == DRAGON:
        return either(rook_attacks(square, occupied), tables.step[BLACK][KING][square])
    return tables.step[color][piece_type][square]


cdef inline Bitboard shift_forward(int color, Bitboard a) noexcept nogil:
    """Move every square one rank ahead. A square on the last rank would wrap to the next file: there must be none."""
    if color == BLACK:
        return make(a.low >> 1, a.high >> 1)
    return make(a.low << 1, a.high << 1)


cdef inline uint64_t open_groups(uint64_t pawns, uint64_t last_rank) noexcept nogil:
    """Return the nine-bit groups without a pawn: adding 255 to a group's low eight bits carries if one is set."""
    cdef uint64_t taken = ((pawns & ~last_rank) + (last_rank - (last_rank >> 8))) | pawns
    cdef uint64_t top = last_rank & ~taken
    return top | (top - (top >> 8))


cdef inline Bitboard files_without(Bitboard pawns) noexcept nogil:
    """Return all squares of the files without any of `pawns`."""
    return make(open_groups(pawns.low, GROUP_SUM << 8), open_groups(pawns.high, (GROUP_SUM << 8) & HIGH_MASK))
