"""Check of training positions: training indexes tables by their numbers without further checks."""

from libc.string cimport memset

from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.shogi.types cimport BLACK, PROMOTION, SQUARES, WHITE

cdef enum:
    SEEN_WORDS = (BONAPIECES + 63) // 64    # a bit for each number


cdef inline bint repeats(uint64_t *seen, int number) noexcept nogil:
    """Note the number; return whether it was seen before."""
    cdef uint64_t bit = <uint64_t>1 << (number & 63)
    cdef bint found = (seen[number >> 6] & bit) != 0
    seen[number >> 6] |= bit
    return found


cdef int first_bad_piece(const TrainingPosition *position) noexcept nogil:
    """Return the place of the first piece with a number out of range or seen before; LISTED if there is none."""
    cdef uint64_t seen[SEEN_WORDS]
    cdef int i = 0
    memset(seen, 0, sizeof(seen))
    while i < LISTED and position.pieces[i]:
        if position.pieces[i] >= BONAPIECES or repeats(seen, position.pieces[i]):
            return i
        i += 1
    return LISTED


cdef inline bint is_result(const TrainingPosition *position) noexcept nogil:
    """Return whether the result is within RESULT_UNIT, or missing if there is a score."""
    return (-RESULT_UNIT <= position.result <= RESULT_UNIT
            or (position.result == UNFINISHED and position.score != UNSCORED))


cdef inline bint is_sound(const TrainingPosition *position) noexcept nogil:
    return (first_bad_piece(position) == LISTED and position.king[BLACK] < SQUARES and position.king[WHITE] < SQUARES
            and (position.side == BLACK or position.side == WHITE) and position.move < 2 * PROMOTION
            and is_result(position))


cdef str fault_of(const TrainingPosition *position):
    """Describe what is wrong with a position that is not sound."""
    cdef int place = first_bad_piece(position)
    if place < LISTED:
        return f"piece number {position.pieces[place]}; each is below {BONAPIECES} and there once"
    if position.king[BLACK] >= SQUARES or position.king[WHITE] >= SQUARES:
        return f"kings on squares {position.king[BLACK]} and {position.king[WHITE]} of 0 to {SQUARES - 1}"
    if position.side != BLACK and position.side != WHITE:
        return f"side to move {position.side}, 0 or 1 expected"
    if position.move >= 2 * PROMOTION:
        return f"move {position.move}, 15 bits expected"
    return f"result {position.result}" + (" without a score" if position.score == UNSCORED else "")


def check_positions(positions, first: int = 1):
    """Raise ValueError for the first position with numbers out of range, counted from `first`; 0.1 us a position."""
    cdef const TrainingPosition[::1] given = positions
    cdef Py_ssize_t i = 0, count = given.shape[0]
    with nogil:
        while i < count and is_sound(&given[i]):
            i += 1
    if i < count:
        raise ValueError(f"position {first + i} is damaged: {fault_of(&given[i])}")
