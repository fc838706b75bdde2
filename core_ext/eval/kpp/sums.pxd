"""KPP sums of one thread, computed from scratch or updated from those of an earlier ply."""

from core_ext.eval.bonapiece cimport LIST_SIZE, PieceLists
from core_ext.eval.incremental cimport SUMMED_PLIES
from core_ext.eval.kpp.weights cimport KppTables
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, int32_t, uint64_t

cdef enum:
    PAIR_TABLES = 3         # KPP of Black's king, KPP of White's king, PP of the tempo terms
    PP_TEMPO = 2            # the last of them, from Black's perspective
    KPP_TERMS = 5

# The sums of the position at one ply.
cdef struct Sums:
    int king[COLORS]            # each from the perspective of its colour
    PieceLists lists
    int32_t pairs[PAIR_TABLES]  # KPP from the king's perspective; PP_TEMPO in TEMPO_STEPs
    int32_t pieces              # piece values and KKP, for Black
    int32_t kp_tempo            # for the side to move
    uint64_t cached[PAIR_TABLES]    # a bit for each valid entry of with_piece
    int32_t with_piece[PAIR_TABLES][LIST_SIZE]  # sum of one piece's pairs with all others, by its place in the list

# The pairs last summed for a king on one square (in NNUE engines a refresh or "Finny" table).
cdef struct KingCache:
    bint valid
    int32_t pairs
    int32_t numbers[LIST_SIZE]

cdef struct KppState:
    const KppTables *weights
    uint64_t keys[SUMMED_PLIES]
    Sums *sums                  # [SUMMED_PLIES]
    KingCache *kings            # [COLORS][SQUARES], each from the perspective of its colour

# Start without sums. MemoryError.
cdef int init_kpp_state(KppState *state, const KppTables *weights) except -1
cdef void free_kpp_state(KppState *state) noexcept nogil
# Return centipawns for the side to move; if a king is missing, the material and the tempo.
cdef int kpp_value(KppState *state, const Position *pos) noexcept nogil
# Return the same from scratch: the oracle of the updates.
cdef int kpp_value_from_scratch(const KppState *state, const Position *pos) noexcept nogil
# List, in 1/FV_SCALE centipawns for Black: piece values, KKP, KPP of Black's king, KPP of White's (negated), tempo.
cdef void kpp_terms(const KppState *state, const Position *pos, int32_t *terms) noexcept nogil
