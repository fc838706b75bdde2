"""The material evaluation: the sum of piece values, by default the exchange values of static exchange evaluation."""

from core_ext.eval.incremental cimport SUMMED_PLIES
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport PIECES, int32_t, uint64_t

# Centipawns for Black, by piece; a piece in hand has its value on the board.
cdef int32_t usual_values[PIECES]

# Sums of one thread in centipawns for Black. `values` must outlive it; the rest is all zeros at first.
cdef struct MaterialState:
    const int32_t *values
    uint64_t keys[SUMMED_PLIES]
    int32_t sums[SUMMED_PLIES]

# Sum from scratch, in centipawns for Black.
cdef int material_for_black(const int32_t *values, const Position *pos) noexcept nogil
# Return centipawns for the side to move, from the sum of a recent ply if there is one. Kings may be missing.
cdef int material_value(MaterialState *state, const Position *pos) noexcept nogil
