"""The first layer's sums, one set for each perspective, updated incrementally along the moves played and taken back.

do_move and undo_move need not notify it: sums are stored by ply with the key of their position, and are valid if that
key matches. Missing sums are computed from those of an earlier ply by the features that the moves since then changed.
If no such ply is near, or if the features are bound to the perspective's own king and it moved, they are computed from
the position last summed for that king square, by the pieces that differ (a refresh or "Finny" table in other NNUE
engines).
"""

from core_ext.eval.incremental cimport SUMMED_PLIES
from core_ext.eval.nnue.features cimport FeatureSet
from core_ext.eval.nnue.selector cimport StackSelector
from core_ext.eval.nnue.stacks cimport LayerStacks
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, Hand, SQUARES, int16_t, uint8_t, uint64_t

cdef enum:
    MIN_WIDTH = 64
    MAX_WIDTH = 8192
    WIDTH_STEP = 32

# A network as play reads it.
cdef struct NnueWeights:
    FeatureSet features
    StackSelector selector
    LayerStacks stacks
    int width                   # of the sums of one perspective
    int fv_scale                # output units in a centipawn
    const int16_t *bias         # [width]
    const int16_t *rows         # [features][width]

# The position last summed for one perspective and king square. All zeros: no pieces; its sums are the biases.
cdef struct RefreshEntry:
    uint8_t board[SQUARES + 7]
    Hand hand[COLORS]

# The state of one thread. All zeros until allocate_sums; the Network must outlive it.
cdef struct NnueState:
    const NnueWeights *weights
    uint64_t keys[COLORS][SUMMED_PLIES]  # of the position by perspective and ply, modulo SUMMED_PLIES; 0: none
    int16_t *sums               # [COLORS][SUMMED_PLIES][width]
    RefreshEntry *cache         # [COLORS][king squares]; one for all squares if features are not bound
    int16_t *cached_sums        # [COLORS][king squares][width]
    void *block

# Find the sums from both perspectives, valid until the next call. Both kings must be on the board.
cdef void accumulate(NnueState *state, const Position *pos, const int16_t **sums) noexcept nogil
# Start without sums; the state is all zeros or was used before. MemoryError, which leaves it all zeros.
cdef int allocate_sums(NnueState *state, const NnueWeights *weights) except -1
cdef void free_sums(NnueState *state) noexcept nogil
