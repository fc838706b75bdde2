"""The NNUE evaluation (Y. Nasu, 2018): centipawns for the side to move from a network of integers.

Two sums of the first layer, the side to move's view first, clipped to 0..127; two hidden layers, each 1/64 of its sums,
clipped to 0..127; one output, `fv_scale` units in a centipawn.
"""

from core_ext.eval.nnue.accumulator cimport NnueState, NnueWeights
from core_ext.shogi.position cimport Position

cdef enum:
    DEFAULT_FV_SCALE = 16
    MAX_FV_SCALE = 128

# Owns the memory of the weights; an NnueState that uses them must not outlive it.
cdef class Network:
    cdef NnueWeights weights
    cdef void *rows_block
    cdef void *layers_block
    cdef readonly str features      # "K+P" or "HalfKP"
    cdef readonly tuple hidden      # units of the hidden layers, not padded

# Use `network` in a zeroed state or one used before; may be called again, after the search of another game too. 0, or
# -1 where there is no memory.
cdef int nnue_init(NnueState *state, Network network) noexcept
cdef void nnue_free(NnueState *state) noexcept nogil
# Centipawns for the side to move, short of a mate's value. Both kings stand on the board. Nothing needs to be told of
# do and undo.
cdef int nnue_evaluate(NnueState *state, const Position *pos) noexcept nogil
# The same from scratch and by the portable kernels. Slow.
cdef int nnue_evaluate_anew(const NnueWeights *weights, const Position *pos) noexcept nogil
