"""The static value of a position: the one interface to every kind of evaluation.

An Evaluator is read-only weights, shared by all threads, and one thread's state, which follows the moves lazily. Its
kind is chosen once, by init_evaluator; evaluate() branches on it, and the processor predicts that branch. A new kind
adds its value to EvaluationKind, its state to Evaluator, and a branch to each function below.
"""

from core_ext.base.debug cimport ASSERT
from core_ext.eval.kpp.sums cimport KppState, kpp_value
from core_ext.eval.material cimport MaterialState, material_value
from core_ext.eval.nnue.accumulator cimport NnueState
from core_ext.eval.nnue.network cimport nnue_evaluate
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport BLACK, MATE_BOUND, NO_SQUARE, WHITE

ctypedef int EvaluationKind
cdef enum:
    MATERIAL_EVALUATION = 0
    KPP_EVALUATION = 1
    NNUE_EVALUATION = 2

# All zeros until init_evaluator.
cdef struct Evaluator:
    EvaluationKind kind
    MaterialState material
    KppState kpp
    NnueState nnue

# Evaluate with `weights`: a Network (NNUE), KPP Weights, or None for material; may be called again. TypeError for
# anything else, MemoryError.
cdef int init_evaluator(Evaluator *evaluator, object weights) except -1
cdef void free_evaluator(Evaluator *evaluator) noexcept nogil
# The same value as evaluate(), from scratch.
cdef int evaluate_from_scratch(const Evaluator *evaluator, const Position *pos) noexcept nogil
# (name, centipawns for the side to move) of each term that this kind of evaluation has; last `total`. Slow.
cdef list evaluate_terms(Evaluator *evaluator, const Position *pos)


cdef inline int bound_value(int value) noexcept nogil:
    """Below the values that say mate."""
    return max(-MATE_BOUND + 1, min(MATE_BOUND - 1, value))


cdef inline bint has_both_kings(const Position *pos) noexcept nogil:
    """False for a mate problem with one king, which a network has no features for: its value is the material."""
    return pos.king[BLACK] != NO_SQUARE and pos.king[WHITE] != NO_SQUARE


cdef inline int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil:
    """Centipawns for the side to move.

    The position may be any: the evaluator recognises it by its key and its ply, updates the sums of a ply not far
    behind, or sums from scratch.
    """
    cdef int value
    if evaluator.kind == NNUE_EVALUATION and has_both_kings(pos):
        value = nnue_evaluate(&evaluator.nnue, pos)
    elif evaluator.kind == KPP_EVALUATION:
        value = bound_value(kpp_value(&evaluator.kpp, pos))
    else:
        value = bound_value(material_value(&evaluator.material, pos))
    ASSERT(value == evaluate_from_scratch(evaluator, pos))
    return value
