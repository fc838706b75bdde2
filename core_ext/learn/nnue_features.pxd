"""The active features of a record: what a network's two views of a position have as inputs.

K+P: the Bonapiece numbers of the pieces, then 81 numbers for the own king's square and 81 for the enemy king's, all as
one side sees the board (Y. Nasu's and YaneuraOu's numbering).
"""

from core_ext.eval.bonapiece cimport BONAPIECES, LISTED, inverse_square, mirror_square
from core_ext.learn.record cimport Record
from core_ext.shogi.types cimport COLORS, SQUARES
from libc.stdint cimport uint16_t

cdef enum:
    OWN_KING = BONAPIECES
    ENEMY_KING = OWN_KING + SQUARES
    FEATURES = ENEMY_KING + SQUARES

# A number that Black sees, [in the mirror][by whom] it is seen.
cdef uint16_t seen_as[2][COLORS][BONAPIECES]


cdef inline int list_view(const Record *record, int color, bint mirror, uint16_t *active) noexcept nogil:
    """The features of one side's view, in the mirror if wished; returns how many, at most 40."""
    cdef int own = record.king[color], enemy = inverse_square(record.king[color ^ 1]), count = 0
    while count < LISTED and record.pieces[count]:
        active[count] = seen_as[mirror][color][record.pieces[count]]
        count += 1
    active[count] = <uint16_t>(OWN_KING + (mirror_square(own) if mirror else own))
    active[count + 1] = <uint16_t>(ENEMY_KING + (mirror_square(enemy) if mirror else enemy))
    return count + 2
