"""The static value of a position: the one interface to every kind of evaluation.

An Evaluator is read-only weights, shared by all threads, and one thread's state, which follows the moves lazily. Its
kind is chosen once, by init_evaluator; evaluate() branches on it, and the processor predicts that branch. A new kind
adds its value to EvaluationKind, its state to Evaluator, and a branch to each function below.
"""

from core_ext.base.debug cimport ASSERT
from core_ext.eval.kpp.sums cimport KppState, kpp_value
from core_ext.eval.kpp.weights cimport Weights
from core_ext.eval.material cimport MaterialState, material_value
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport MATE_BOUND

ctypedef int EvaluationKind
cdef enum:
    MATERIAL_EVALUATION = 0
    KPP_EVALUATION = 1

# All zeros until init_evaluator.
cdef struct Evaluator:
    EvaluationKind kind
    MaterialState material
    KppState kpp

# Evaluate with `weights`, or by material where they are None; may be called again. MemoryError.
cdef int init_evaluator(Evaluator *evaluator, Weights weights) except -1
cdef void free_evaluator(Evaluator *evaluator) noexcept nogil
# The same value as evaluate(), from scratch.
cdef int evaluate_from_scratch(const Evaluator *evaluator, const Position *pos) noexcept nogil
# (name, centipawns for the side to move) of each term that this kind of evaluation has; last `total`. Slow.
cdef list evaluate_terms(Evaluator *evaluator, const Position *pos)


cdef inline int clamp_value(int value) noexcept nogil:
    """To the values that are not mates."""
    return max(-MATE_BOUND + 1, min(MATE_BOUND - 1, value))


cdef inline int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil:
    """Centipawns for the side to move.

    Any position may be given: its key and ply tell which sums are valid. Updates those of a ply not far behind, or sums
    from scratch.
    """
    cdef int value
    if evaluator.kind == KPP_EVALUATION:
        value = clamp_value(kpp_value(&evaluator.kpp, pos))
    else:
        value = clamp_value(material_value(&evaluator.material, pos))
    ASSERT(value == evaluate_from_scratch(evaluator, pos))
    return value
