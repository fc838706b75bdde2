"""Static exchange evaluation by the swap algorithm: the cheapest attacker takes next, x-rays are uncovered as pieces
leave.
"""

from core_ext.shogi.bitboard cimport Bitboard, both, either, empty, lowest, meet, some, tables, without
from core_ext.shogi.position cimport Position, attackers, occupied, slide_attackers
from core_ext.shogi.types cimport (
    KING, Move, NO_PIECE, PROMOTED, dropped_type, from_square, is_drop, is_promotion, to_square, type_of,
)

cdef extern from *:
    """
    /* By piece type: - P L N S B R G K, then +P +L +N +S horse dragon. Apery's material values, rounded. */
    static const short exchange_value[16] =
        {0, 90, 315, 405, 495, 855, 990, 540, 15000, 540, 540, 540, 540, 945, 1395, 0};
    /* Which type takes first: a pawn before a lance, ..., the king last. */
    static const signed char taking_order[15] = {1, 2, 3, 9, 10, 11, 4, 12, 7, 5, 6, 13, 14, 8, 0};
    """
    const short exchange_value[16]
    const signed char taking_order[15]


cdef int see_value(int piece_type) noexcept nogil:
    return exchange_value[piece_type]


cdef inline int gain_of(const Position *pos, Move move) noexcept nogil:
    """What the move itself captures, and what it gains by promoting."""
    cdef int gain = exchange_value[type_of(pos.board[to_square(move)])]
    cdef int mover
    if is_promotion(move):
        mover = type_of(pos.board[from_square(move)])
        gain += exchange_value[mover + PROMOTED] - exchange_value[mover]
    return gain


cdef inline int placed_type(const Position *pos, Move move) noexcept nogil:
    if is_drop(move):
        return dropped_type(move)
    return type_of(pos.board[from_square(move)]) + (PROMOTED if is_promotion(move) else 0)


cdef inline int cheapest(const Position *pos, Bitboard takers, Bitboard *taken_from) noexcept nogil:
    """The type of the least valued piece in `takers`, and one square it stands on."""
    cdef int i, piece_type
    cdef Bitboard found
    for i in range(14):
        piece_type = taking_order[i]
        found = both(takers, pos.kind[piece_type])
        if some(found):
            taken_from[0] = tables.square[lowest(found)]
            return piece_type
    return NO_PIECE


cdef bint see_at_least(const Position *pos, Move move, int threshold) noexcept nogil:
    """The null-window form of the exchange (Stockfish's see_ge): each side may stop when it is content."""
    cdef int target = to_square(move), side = pos.side ^ 1, piece_type
    cdef int balance = gain_of(pos, move) - threshold
    cdef Bitboard occ, all_takers, takers, origin = empty()
    cdef bint ours = True
    if balance < 0:
        return False
    balance = exchange_value[placed_type(pos, move)] - balance
    if balance <= 0:
        return True
    occ = occupied(pos)
    if not is_drop(move):
        occ = without(occ, tables.square[from_square(move)])
    occ = either(occ, tables.square[target])
    all_takers = either(attackers(pos, target, 0, occ), attackers(pos, target, 1, occ))
    while True:
        all_takers = both(all_takers, occ)
        takers = both(all_takers, pos.color[side])
        if not some(takers):
            return ours
        ours = not ours
        piece_type = cheapest(pos, takers, &origin)
        if piece_type == KING:  # it may not take a guarded piece
            return (not ours) if meet(all_takers, pos.color[side ^ 1]) else ours
        balance = exchange_value[piece_type] - balance
        if balance < (1 if ours else 0):
            return ours
        occ = without(occ, origin)
        all_takers = either(all_takers, slide_attackers(pos, target, 0, occ))
        all_takers = either(all_takers, slide_attackers(pos, target, 1, occ))
        side ^= 1


cdef int see(const Position *pos, Move move) noexcept nogil:
    """By bisection of see_at_least."""
    cdef int low = -20000, high = 20000, middle
    while low < high:
        middle = (low + high + 1) >> 1
        if see_at_least(pos, move, middle):
            low = middle
        else:
            high = middle - 1
    return low
