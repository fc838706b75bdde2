"""Choice of the evaluation, and its functions that are not hot; contracts in evaluate.pxd."""

from libc.string cimport memset

from core_ext.eval.kpp.sums cimport KPP_TERMS, free_kpp_state, init_kpp_state, kpp_terms, kpp_value_from_scratch
from core_ext.eval.kpp.weights cimport FV_SCALE, KppWeights
from core_ext.eval.material cimport material_value, usual_values
from core_ext.eval.nnue.accumulator cimport allocate_sums, free_sums
from core_ext.eval.nnue.forward cimport value_from_scratch
from core_ext.eval.nnue.network cimport Network
from core_ext.eval.piece_values cimport PieceValues
from core_ext.shogi.types cimport BLACK, int32_t

KPP_TERM_NAMES = ["pieces", "KKP", "KPP of Black's king", "KPP of White's king", "tempo"]


cdef int init_evaluator(Evaluator *evaluator, object weights) except -1:
    free_evaluator(evaluator)
    memset(evaluator, 0, sizeof(Evaluator))
    evaluator.values = usual_values
    if isinstance(weights, Network):
        allocate_sums(&evaluator.nnue, &(<Network>weights).weights)
        evaluator.kind = NNUE_EVALUATION
    elif isinstance(weights, KppWeights):
        if (<KppWeights>weights).ready:
            init_kpp_state(&evaluator.kpp, &(<KppWeights>weights).unfolded)
            evaluator.kind = KPP_EVALUATION
    elif isinstance(weights, PieceValues):
        evaluator.values = (<PieceValues>weights).values
    elif weights is not None:
        raise TypeError(f"weights are a Network, KppWeights, PieceValues or None, not {type(weights).__name__}")
    return 0


cdef void free_evaluator(Evaluator *evaluator) noexcept nogil:
    free_kpp_state(&evaluator.kpp)
    free_sums(&evaluator.nnue)


cdef int evaluate_from_scratch(const Evaluator *evaluator, const Position *pos) noexcept nogil:
    if evaluator.kind == NNUE_EVALUATION and has_both_kings(pos):
        return value_from_scratch(evaluator.nnue.weights, pos)
    if evaluator.kind == KPP_EVALUATION:
        return clamp_value(kpp_value_from_scratch(&evaluator.kpp, pos))
    return clamp_value(material_value(evaluator.values, pos))


cdef list list_kpp_terms(const Evaluator *evaluator, const Position *pos):
    cdef int32_t terms[KPP_TERMS]
    cdef int scale = FV_SCALE if pos.side == BLACK else -FV_SCALE
    kpp_terms(&evaluator.kpp, pos, terms)
    return [(name, terms[i] // scale) for i, name in enumerate(KPP_TERM_NAMES)]


cdef list evaluate_terms(Evaluator *evaluator, const Position *pos):
    cdef list terms = list_kpp_terms(evaluator, pos) if evaluator.kind == KPP_EVALUATION else []
    return terms + [("total", evaluate(evaluator, pos))]
