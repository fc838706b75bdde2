"""The first layer's sums, one a colour, followed through do and undo.

Nothing needs to be told of moves: a frame belongs to a ply and carries the key of its position. A view without sums
takes them from an earlier ply by the differences of the moves between; where none is near, or where the viewer's king
moved (HalfKP), from the position last summed for that king square, by the pieces that differ (the "finny tables" of
Stockfish's NNUE).
"""

from core_ext.eval.nnue.features cimport FeatureSet
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, Hand, SQUARES, int8_t, int16_t, int32_t, uint8_t, uint64_t

cdef enum:
    NNUE_FRAMES = 256           # a power of two
    MIN_WIDTH = 128
    MAX_WIDTH = 1024
    WIDTH_STEP = 32
    MIN_HIDDEN = 8
    MAX_HIDDEN = 96
    HIDDEN_STEP = 16            # hidden layers are padded to so many units, whose weights are 0

# A network as play reads it; layouts: layers.h.
cdef struct NnueWeights:
    FeatureSet kind
    int width                   # of the sums of one colour
    int hidden[2]               # units, padded
    int fv_scale                # output units in a centipawn
    const int16_t *bias         # [width]
    const int16_t *rows         # [features][width]
    const int32_t *hidden_bias[2]
    const int8_t *hidden_weights[2]
    const int8_t *output_weights
    int32_t output_bias

# The position last summed for one view and king square. Zeroed: no piece, no hand, and its sums are the biases.
cdef struct Refreshed:
    uint8_t board[SQUARES + 7]
    Hand hand[COLORS]

# What one thread needs to evaluate along a line of play. The Network must outlive it.
cdef struct NnueState:
    const NnueWeights *weights
    uint64_t keys[COLORS][NNUE_FRAMES]  # of the position by view and ply, modulo NNUE_FRAMES; 0: no sums
    int16_t *sums               # [COLORS][NNUE_FRAMES][width]
    Refreshed *refreshed        # [COLORS][king squares]; K+P has one, for all king squares
    int16_t *refreshed_sums     # [COLORS][king squares][width]
    void *block

# Both views' sums of a position; both kings stand on the board. Valid until the next call.
cdef void accumulate(NnueState *state, const Position *pos, const int16_t **sums) noexcept nogil
# The same from scratch into [COLORS][width], by the portable kernel. For tests.
cdef void accumulate_anew(const NnueWeights *weights, const Position *pos, int16_t *sums) noexcept nogil
# Memory for a network; the state is zeroed or was used before. -1 where there is no memory, and nothing is held then.
cdef int allocate_sums(NnueState *state, const NnueWeights *weights) noexcept nogil
cdef void free_sums(NnueState *state) noexcept nogil
