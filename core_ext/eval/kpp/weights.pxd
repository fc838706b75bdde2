"""KPP weights as play reads them: unfolded, in 1/FV_SCALE centipawns, one table read for each term.

Black's value is (sum piece + sum KKP[black king][white king] + sum KPP[black king] - sum KPP[white king, inverted])
/ FV_SCALE, over the pieces and pairs of pieces by their Bonapiece numbers. The side to move also gets the tempo
terms: (tempo + sum KP[each king, from its colour's perspective] + sum PP) / FV_SCALE. Files name them "turn".
"""

from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.shogi.types cimport SQUARES, int8_t, int16_t, int32_t

cdef enum:
    FV_SCALE = 32
    TEMPO_STEP = 4              # of the PP tempo terms, so that each fits in a byte; files must use the same step

cdef struct KppTables:
    int32_t piece[BONAPIECES]
    int32_t tempo
    int16_t *kkp                # [81][81][BONAPIECES], both kings from Black's perspective
    int16_t *kpp                # [81][BONAPIECES][BONAPIECES], both orders, zero on the diagonal
    int16_t *kp_tempo           # [81][BONAPIECES], from the perspective of the king's colour
    int8_t *pp_tempo            # [BONAPIECES][BONAPIECES], in TEMPO_STEPs; both orders, zero on the diagonal

# Owns the memory; a state that uses the weights must not outlive it.
cdef class KppWeights:
    cdef KppTables unfolded
    cdef bint ready             # whether all tables are filled
    cdef tuple blocks           # memory of the pieces, of KKP, of KPP, and of kp_tempo with pp_tempo
    cdef int32_t *pieces        # which `complete` copies
    cdef int _check_allocated(self) except -1


cdef inline const int16_t *kkp_row(const KppTables *weights, int black_king, int white_king) noexcept nogil:
    """Return a row indexed by number; both kings are given from Black's perspective."""
    return weights.kkp + (black_king * SQUARES + white_king) * BONAPIECES


cdef inline const int16_t *kpp_row(const KppTables *weights, int king, int number) noexcept nogil:
    """Return a row indexed by the other number, all from the perspective of the king's colour."""
    return weights.kpp + (<size_t>king * BONAPIECES + number) * BONAPIECES


cdef inline const int16_t *kp_tempo_row(const KppTables *weights, int king) noexcept nogil:
    return weights.kp_tempo + king * BONAPIECES

cdef inline const int8_t *pp_tempo_row(const KppTables *weights, int number) noexcept nogil:
    return weights.pp_tempo + number * BONAPIECES
