"""The material evaluation: the sum of piece values, by default the exchange values of static exchange evaluation."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport PIECES, int32_t

# Centipawns for Black, by piece; a piece in hand has its value on the board.
cdef int32_t usual_values[PIECES]

# Return centipawns for the side to move. Kings may be missing.
cdef int material_value(const int32_t *values, const Position *pos) noexcept nogil
