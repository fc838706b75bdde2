"""The static value of a position: the one interface to every kind of evaluation.

An Evaluator points to read-only weights, shared by all threads, and holds one thread's state, which follows the moves
lazily. init_evaluator chooses its kind; evaluate() branches on it, and the processor predicts that branch. A new kind
adds its value to EvaluationKind, its state to Evaluator, and a branch to each function below.
"""

from core_ext.base.debug cimport ASSERT
from core_ext.eval.kpp.sums cimport KppState, kpp_value
from core_ext.eval.material cimport material_value
from core_ext.eval.nnue.accumulator cimport NnueState
from core_ext.eval.nnue.network cimport nnue_evaluate
from core_ext.shogi.position cimport Position, has_both_kings
from core_ext.shogi.types cimport MAX_EVALUATION, int32_t

ctypedef int EvaluationKind
cdef enum:
    MATERIAL_EVALUATION = 0
    KPP_EVALUATION = 1
    NNUE_EVALUATION = 2

# All zeros until init_evaluator.
cdef struct Evaluator:
    EvaluationKind kind
    const int32_t *values   # of pieces, which must outlive it
    KppState kpp
    NnueState nnue

# Evaluate with `weights`: a Network (NNUE), KppWeights, PieceValues, or None for material by the usual values; may be
# called again. TypeError for anything else, MemoryError.
cdef int init_evaluator(Evaluator *evaluator, object weights) except -1
cdef void free_evaluator(Evaluator *evaluator) noexcept nogil
# Return the same value as evaluate(), computed from scratch.
cdef int evaluate_from_scratch(const Evaluator *evaluator, const Position *pos) noexcept nogil
# List (name, centipawns for the side to move) of each term of this kind of evaluation, `total` last. Slow.
cdef list evaluate_terms(Evaluator *evaluator, const Position *pos)


cdef inline int clamp_value(int value) noexcept nogil:
    """Clamp to the range of evaluations."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, value))


cdef inline int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil:
    """Return centipawns for the side to move.

    Any position may be given: its key and ply tell which sums are valid. If a recent ply has sums, they are updated,
    else computed from scratch.
    """
    cdef int value
    # A network has no features for a mate problem with one king: its value is the material.
    if evaluator.kind == NNUE_EVALUATION and has_both_kings(pos):
        value = nnue_evaluate(&evaluator.nnue, pos)
    elif evaluator.kind == KPP_EVALUATION:
        value = clamp_value(kpp_value(&evaluator.kpp, pos))
    else:
        value = clamp_value(material_value(evaluator.values, pos))
    ASSERT(value == evaluate_from_scratch(evaluator, pos))
    return value
