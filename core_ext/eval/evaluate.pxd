"""The static value of a position: material, or pieces + KKP + KPP + turn where weights are loaded.

    value for Black = (sum piece + sum KKP[black king][white king]
                       + sum KPP[black king] - sum KPP[white king, inversed] +- turn) / 32
    turn = tempo + sum KP[black king] + sum KP[white king, inversed] + sum PP

over the pieces, and the pairs of pieces, that features.pxd numbers. Weights are in 1/32 centipawn. What the turn is
worth counts for the side to move: a piece under attack is worth less to the side that may not move it away.
"""

from core_ext.eval.bonapiece cimport BONAPIECES, LIST_SIZE, PieceLists
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, int8_t, int16_t, int32_t, uint64_t

cdef enum:
    EVALUATION_TERMS = 5
    FV_SCALE = 32
    EVALUATOR_FRAMES = 256      # a power of two
    TABLES = 3                  # of pairs: KPP of Black's king and of White's, PP of the turn
    TURN = 2                    # as Black sees them
    TURN_STEP = 4               # of PP of the turn, so that bytes hold it; files name theirs, and must agree

# Weights as play reads them. Without `kpp` the pieces alone count.
cdef struct Terms:
    int32_t piece[BONAPIECES]
    int32_t tempo               # for the side to move
    const int16_t *kkp          # [81][81][BONAPIECES], White's king as Black sees it
    const int16_t *kpp          # [81][BONAPIECES][BONAPIECES], both orders, zero on the diagonal
    const int16_t *kp_turn      # [81][BONAPIECES], as the king's colour sees both
    const int8_t *pp_turn       # [BONAPIECES][BONAPIECES], in TURN_STEPs; both orders, zero on the diagonal

# What was summed for the position of one ply.
cdef struct Sums:
    uint64_t key                # of the position; 0: nothing yet
    int king[COLORS]            # as each colour sees its own
    PieceLists lists
    int32_t pairs[TABLES]       # KPP of each colour's king, as that colour sees it; PP of the turn, in TURN_STEPs
    int32_t pieces              # pieces and KKP, for Black
    int32_t turn                # KP of the turn, for the side to move
    uint64_t known[TABLES]      # which places of with_piece are filled
    int32_t with_piece[TABLES][LIST_SIZE]   # the pairs with the piece at a place of the list

# The pairs of one king on one square as they were last summed there.
cdef struct KingSum:
    bint known
    int32_t pairs
    int32_t numbers[LIST_SIZE]

# What one thread needs to evaluate along a line of play.
cdef struct Evaluator:
    const Terms *terms
    Sums *frames                # by the ply, modulo EVALUATOR_FRAMES
    KingSum *kings              # [COLORS][SQUARES], as each colour sees its own

# Owns the memory of the weights; the Evaluators that use it must not outlive it.
cdef class Weights:
    cdef Terms terms
    cdef int16_t *kkp
    cdef int16_t *kpp
    cdef int16_t *kp_turn       # of one block with pp_turn, which follows
    cdef int8_t *pp_turn
    cdef void *kkp_block
    cdef void *kpp_block
    cdef void *turn_block

# Use `weights`, or the plain piece values where None; may be called again. MemoryError.
cdef int init_evaluator(Evaluator *evaluator, Weights weights) except -1
cdef void free_evaluator(Evaluator *evaluator) noexcept nogil
# Centipawns for the side to move. Nothing needs to be told of do and undo: the evaluator knows a position by its key
# and its ply, follows from the sums of a ply not far behind where it has them, and sums anew where not.
cdef int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil
# The terms behind it, for Black, in 1/32 centipawns: pieces, KKP, KPP of Black's king, of White's (negated), the turn
# with its tempo. Slow.
cdef void evaluate_terms(const Evaluator *evaluator, const Position *pos, int32_t *terms) noexcept nogil
