"""Whether records can be learned from: training indexes by their numbers without looking at them again."""

from libc.string cimport memset

from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.shogi.types cimport BLACK, SQUARES, WHITE

cdef enum:
    SEEN_WORDS = (BONAPIECES + 63) // 64    # a bit for each number


cdef inline bint repeats(uint64_t *seen, int number) noexcept nogil:
    """Whether the number was seen before; notes it."""
    cdef uint64_t bit = <uint64_t>1 << (number & 63)
    cdef bint found = (seen[number >> 6] & bit) != 0
    seen[number >> 6] |= bit
    return found


cdef int first_bad_piece(const Record *record) noexcept nogil:
    """The place of the first piece whose number is none or is there twice; LISTED where all are right."""
    cdef uint64_t seen[SEEN_WORDS]
    cdef int i = 0
    memset(seen, 0, sizeof(seen))
    while i < LISTED and record.pieces[i]:
        if record.pieces[i] >= BONAPIECES or repeats(seen, record.pieces[i]):
            return i
        i += 1
    return LISTED


cdef inline bint is_result(const Record *record) noexcept nogil:
    """1, -1, 0, or none where there is a score."""
    return -1 <= record.result <= 1 or (record.result == UNFINISHED and record.score != UNSCORED)


cdef inline bint is_sound(const Record *record) noexcept nogil:
    return (first_bad_piece(record) == LISTED and record.king[BLACK] < SQUARES and record.king[WHITE] < SQUARES
            and (record.side == BLACK or record.side == WHITE) and is_result(record))


cdef str fault_of(const Record *record):
    """What is wrong with a record that is not sound."""
    cdef int place = first_bad_piece(record)
    if place < LISTED:
        return f"piece number {record.pieces[place]}; each is below {BONAPIECES} and there once"
    if record.king[BLACK] >= SQUARES or record.king[WHITE] >= SQUARES:
        return f"kings on squares {record.king[BLACK]} and {record.king[WHITE]} of 0 to {SQUARES - 1}"
    if record.side != BLACK and record.side != WHITE:
        return f"side to move {record.side}, 0 or 1 expected"
    return f"result {record.result}" + (" without a score" if record.score == UNSCORED else "")


def check_records(records, first: int = 1):
    """ValueError that names the first record with numbers out of range, counted from `first`; takes 0.1 us a record."""
    cdef const Record[::1] given = records
    cdef Py_ssize_t i = 0, count = given.shape[0]
    with nogil:
        while i < count and is_sound(&given[i]):
            i += 1
    if i < count:
        raise ValueError(f"position {first + i} is damaged: {fault_of(&given[i])}")
