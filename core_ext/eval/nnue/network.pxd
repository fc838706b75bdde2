"""The NNUE evaluation (Y. Nasu, 2018): centipawns for the side to move from a network of integers.

The first layer's sums from both perspectives, the side to move's first, clipped to 0..127; two hidden layers, each 1/64
of its sums, clipped to 0..127; one output, `fv_scale` units in a centipawn.
"""

from core_ext.eval.nnue.accumulator cimport NnueState, NnueWeights
from core_ext.shogi.position cimport Position

# Owns the memory of the weights; an NnueState that uses them must not outlive it.
cdef class Network:
    cdef NnueWeights weights
    cdef void *rows_block
    cdef void *layers_block
    cdef readonly str features      # "K+P" or "HalfKP"
    cdef readonly tuple hidden      # units of the hidden layers, not padded

# Evaluate by `network`, without sums at first. The state is all zeros or was used before. MemoryError.
cdef int nnue_init(NnueState *state, Network network) except -1
cdef void nnue_free(NnueState *state) noexcept nogil
# Return centipawns for the side to move, within MAX_EVALUATION. Both kings must be on the board. Any position may be
# given: the state recognises it by its key and its ply.
cdef int nnue_evaluate(NnueState *state, const Position *pos) noexcept nogil
# Return the same from scratch and by the portable kernels: the oracle of the tests.
cdef int nnue_evaluate_from_scratch(const NnueWeights *weights, const Position *pos) noexcept nogil
