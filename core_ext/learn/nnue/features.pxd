"""Active features of a position: the inputs of a network for each side's view, mirrored or not."""

from core_ext.eval.bonapiece cimport BONAPIECES, LISTED, inverse_square, mirror_square
from core_ext.eval.nnue.features cimport ENEMY_KING, OWN_KING
from core_ext.learn.training_position cimport TrainingPosition
from core_ext.shogi.types cimport COLORS
from libc.stdint cimport uint16_t

# Black's Bonapiece numbers, [in the mirror][from this perspective].
cdef uint16_t number_table[2][COLORS][BONAPIECES]


cdef inline int own_king(const TrainingPosition *position, int color, bint mirror) noexcept nogil:
    """Return the king's square from its own perspective."""
    return mirror_square(position.king[color]) if mirror else position.king[color]


cdef inline int list_numbers(const TrainingPosition *position, int color, bint mirror, uint16_t *active) noexcept nogil:
    """List the Bonapiece numbers of all pieces except kings; return how many, at most LISTED."""
    cdef int count = 0
    while count < LISTED and position.pieces[count]:
        active[count] = number_table[mirror][color][position.pieces[count]]
        count += 1
    return count


cdef inline int list_view(const TrainingPosition *position, int color, bint mirror, uint16_t *active) noexcept nogil:
    """List the K+P features; return how many, at most 40."""
    cdef int enemy = inverse_square(position.king[color ^ 1]), count = list_numbers(position, color, mirror, active)
    active[count] = <uint16_t>(OWN_KING + own_king(position, color, mirror))
    active[count + 1] = <uint16_t>(ENEMY_KING + (mirror_square(enemy) if mirror else enemy))
    return count + 2
