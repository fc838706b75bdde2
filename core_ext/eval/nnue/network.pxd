"""The NNUE evaluation (Y. Nasu, 2018): centipawns for the side to move from a network of integers.

A network is a combination of four independent parts: a feature set (features), the activation of the transformer's sums
(activation), a selector of the layer stack (selector), and the dense layers of a stack (stacks, forward).
"""

from core_ext.base.large_memory cimport LargeMemory
from core_ext.eval.nnue.accumulator cimport NnueState, NnueWeights
from core_ext.shogi.position cimport Position

# Owns the memory of the weights; an NnueState that uses them must not outlive it.
cdef class Network:
    cdef NnueWeights weights
    cdef readonly object architecture
    cdef LargeMemory stacks         # these four keep memory alive that `weights` points to
    cdef LargeMemory rows
    cdef object bias
    cdef object progress

# Return centipawns for the side to move, within MAX_EVALUATION. Both kings must be on the board. Any position may be
# given: the state recognises it by its key and its ply.
cdef int nnue_evaluate(NnueState *state, const Position *pos) noexcept nogil
