"""The material evaluation: the sum of plain piece values, the exchange values of static exchange evaluation."""

from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.eval.incremental cimport SUMMED_PLIES
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport int32_t, uint64_t

# Centipawns for Black, by Bonapiece number.
cdef int32_t piece_values[BONAPIECES]

# Per thread: sums in centipawns for Black. All zeros: nothing summed yet.
cdef struct MaterialState:
    uint64_t keys[SUMMED_PLIES]
    int32_t sums[SUMMED_PLIES]

# From scratch, in centipawns for Black.
cdef int material_for_black(const Position *pos) noexcept nogil
# In centipawns for the side to move, from the sum of a recent ply where there is one. Kings may be missing.
cdef int material_value(MaterialState *state, const Position *pos) noexcept nogil
