"""Static exchange evaluation by the swap algorithm: the least valuable attacker captures next.

X-ray attackers join when pieces leave their lines. Pinned pieces do not capture, but guard against a king.
"""

from core_ext.shogi.bitboard cimport Bitboard, both, either, empty, meet, pop, some, tables, without
from core_ext.shogi.position cimport Position, aligned_sliders, occupied, slider_blockers, step_attackers, to_move32
from core_ext.shogi.types cimport *

cdef extern from *:
    """
    /* Order of capture by piece type: a pawn first, ..., the king last. */
    static const signed char taking_rank[16] = {0, 1, 2, 3, 7, 10, 11, 9, 14, 4, 5, 6, 8, 12, 13, 0};
    """
    const signed char taking_rank[16]


cdef inline int least_valuable(const Position *pos, Bitboard takers, Bitboard *origin) noexcept nogil:
    """Return the type of the least valuable piece in `takers` (not empty); `origin` gets its square."""
    cdef int square = pop(&takers), least = square
    while some(takers):     # there are seldom more than three
        square = pop(&takers)
        if taking_rank[type_of(pos.board[square])] < taking_rank[type_of(pos.board[least])]:
            least = square
    origin[0] = tables.square[least]
    return type_of(pos.board[least])


cdef inline Bitboard pinned_off(const Position *pos, int color, int target, Bitboard occ) noexcept nogil:
    """Return the pieces of a colour that a pin keeps from capturing on `target`."""
    cdef int king = pos.king[color]
    cdef Bitboard sliders, direct
    if king == NO_SQUARE:
        return empty()
    sliders = both(aligned_sliders(pos, king, color ^ 1), occ)
    if not some(sliders):
        return empty()
    return without(both(slider_blockers(king, sliders, occ, &direct), pos.color[color]), tables.line[king][target])


cdef inline Bitboard unblocked(int square, Bitboard sliders, Bitboard occ) noexcept nogil:
    """Return the aligned `sliders` that attack the square."""
    cdef Bitboard found = sliders
    cdef int slider
    while some(sliders):
        slider = pop(&sliders)
        if meet(tables.between[square][slider], occ):
            found = without(found, tables.square[slider])
    return found


cdef bint recaptures_hold(const Position *pos, int target, int balance, Bitboard occ) noexcept nogil:
    """Return whether the side to move keeps its threshold through all further captures on `target`.

    `occ` is the occupancy after the move; after a capture of the piece on `target` the exchange is `balance` > 0 below
    the threshold.
    """
    cdef int side = pos.side ^ 1, piece_type
    cdef Bitboard sliders = either(aligned_sliders(pos, target, BLACK), aligned_sliders(pos, target, WHITE))
    cdef Bitboard steppers = either(step_attackers(pos, target, BLACK), step_attackers(pos, target, WHITE))
    cdef Bitboard all_takers, takers, origin = empty()
    cdef bint ours = True       # the answer if the side to capture next does not capture
    while True:
        all_takers = either(both(steppers, occ), unblocked(target, both(sliders, occ), occ))
        takers = both(all_takers, pos.color[side])
        if some(takers):
            takers = without(takers, pinned_off(pos, side, target, occ))
        if not some(takers):
            return ours
        ours = not ours
        piece_type = least_valuable(pos, takers, &origin)
        if piece_type == KING:  # it may not capture a guarded piece
            return (not ours) if meet(all_takers, pos.color[side ^ 1]) else ours
        balance = see_value(piece_type) - balance
        if balance < (1 if ours else 0):
            return ours
        occ = without(occ, origin)
        side ^= 1


cdef bint see_at_least(const Position *pos, Move move, int threshold) noexcept nogil:
    """Search the exchange with a null window (Stockfish's see_ge): a side stops once it reaches its bound."""
    cdef Move32 move32 = to_move32(pos, move)
    cdef int balance = capture_gain(move32) - threshold
    cdef Bitboard occ
    if balance < 0:
        return False
    balance = see_value(type_of(placed_piece(move32))) - balance
    if balance <= 0:
        return True
    occ = occupied(pos)
    if not is_drop(move):
        occ = without(occ, tables.square[from_square(move)])
    return recaptures_hold(pos, to_square(move), balance, either(occ, tables.square[to_square(move)]))


cdef int see(const Position *pos, Move move) noexcept nogil:
    cdef int low = -20000, high = 20000, middle
    while low < high:
        middle = (low + high + 1) >> 1
        if see_at_least(pos, move, middle):
            low = middle
        else:
            high = middle - 1
    return low
