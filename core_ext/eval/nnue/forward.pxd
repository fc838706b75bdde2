"""The value of a network from the transformer's sums, and both from scratch.

All of it is inline, so that a test module can compile it again with the portable kernels: the oracle of the others.
"""

from libc.stdint cimport uintptr_t

from core_ext.eval.bonapiece cimport LISTED, PieceLists, list_pieces
from core_ext.eval.nnue.accumulator cimport MAX_WIDTH, NnueWeights
from core_ext.eval.nnue.features cimport FeatureSet, MAX_ACTIVE, Viewpoint, king_feature, piece_feature, viewpoint_of
from core_ext.eval.nnue.kernels cimport (
    activate, nnue_accumulate, nnue_affine, nnue_dot_row, nnue_hidden, nnue_squares,
)
from core_ext.eval.nnue.selector cimport select_stack
from core_ext.eval.nnue.stacks cimport GROUP, LayerStacks, MAX_HIDDEN, MAX_INPUTS
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport BLACK, COLORS, MAX_EVALUATION, int8_t, int16_t, int32_t, uint8_t, uint32_t

cdef enum:
    VECTOR_BYTES = 64           # alignment of the inputs of layer 0


# ---- dense layers ----

cdef inline int32_t wrapping_sum(int32_t a, int32_t b) noexcept nogil:
    return <int32_t>(<uint32_t>a + <uint32_t>b)


cdef inline void add_shards(const LayerStacks *stacks, int32_t *sums, const uint8_t *inputs,
                            const int8_t *rows) noexcept nogil:
    """Add to each output the products of its group's inputs, which follow the common ones."""
    cdef const uint8_t *seen
    cdef int i
    for i in range(stacks.sharded):
        seen = inputs + stacks.common + i // stacks.shard_outputs * stacks.shard
        sums[i] = wrapping_sum(sums[i], nnue_dot_row(seen, rows, stacks.shard))
        rows += stacks.shard


cdef inline int activate_first(const LayerStacks *stacks, uint8_t *units, const int32_t *sums) noexcept nogil:
    """Return the number of inputs of layer 1."""
    if stacks.sfnn:
        nnue_squares(units, sums, stacks.outputs[0])
        return 2 * stacks.outputs[0]
    nnue_hidden(units, sums, stacks.outputs[0])
    return stacks.outputs[0]


cdef inline int32_t run_stack(const LayerStacks *stacks, int index, const uint8_t *inputs) noexcept nogil:
    """Return the output of one stack for inputs aligned to VECTOR_BYTES."""
    cdef const char *stack = stacks.stacks + index * stacks.stride
    cdef const int8_t *weights[3]
    cdef const int32_t *bias[2]
    cdef int32_t first[MAX_HIDDEN]
    cdef int32_t second[MAX_HIDDEN]
    cdef uint8_t units[2 * MAX_HIDDEN]
    cdef int32_t output = (<const int32_t *>(stack + stacks.output_bias))[0]
    cdef int count, i
    for i in range(3):
        weights[i] = <const int8_t *>stack + stacks.weights[i]
    for i in range(2):
        bias[i] = <const int32_t *>(stack + stacks.bias[i])
    nnue_affine(first, inputs, stacks.common, stacks.outputs[0], stacks.group, weights[0], bias[0], True)
    if stacks.shard:
        add_shards(stacks, first, inputs, <const int8_t *>stack + stacks.shards)
    count = activate_first(stacks, units, first)
    nnue_affine(second, units, count, stacks.outputs[1], GROUP, weights[1], bias[1], False)
    nnue_hidden(units, second, stacks.outputs[1])
    output = wrapping_sum(output, nnue_dot_row(units, weights[2], stacks.outputs[1]))
    return wrapping_sum(output, first[stacks.shortcut]) if stacks.shortcut >= 0 else output


cdef inline int value_of_sums(const NnueWeights *weights, const Position *pos, const int16_t *ours,
                              const int16_t *theirs) noexcept nogil:
    """Return centipawns for the side to move, rounded towards 0 as in YaneuraOu, from the sums of both perspectives."""
    cdef uint8_t room[MAX_INPUTS + VECTOR_BYTES]
    cdef uint8_t *inputs = <uint8_t *>((<uintptr_t>room + VECTOR_BYTES - 1) & ~<uintptr_t>(VECTOR_BYTES - 1))
    cdef int32_t output
    activate(inputs, ours, theirs, weights.width, weights.stacks.sfnn)
    output = run_stack(&weights.stacks, select_stack(&weights.selector, pos), inputs)
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, output // weights.fv_scale))


# ---- from scratch ----

cdef inline int list_features(const NnueWeights *weights, const Position *pos, int perspective,
                              int32_t *listed) noexcept nogil:
    """List all active features from one perspective; return how many."""
    cdef const FeatureSet *used = &weights.features
    cdef Viewpoint viewpoint = viewpoint_of(used, perspective, pos.king[perspective])
    cdef PieceLists lists
    cdef int count = min(list_pieces(pos, &lists), LISTED), color, which, i
    for i in range(count):
        listed[i] = piece_feature(used, viewpoint, lists.numbers[BLACK][i])
    for which in range(used.kings):
        for color in range(COLORS):
            listed[count] = king_feature(used, viewpoint, which, color, pos.king[color])
            count += 1
    return count


cdef inline void accumulate_from_scratch(const NnueWeights *weights, const Position *pos,
                                         int16_t *sums) noexcept nogil:
    """Compute the sums of both perspectives into [COLORS][width]."""
    cdef int32_t listed[MAX_ACTIVE]
    cdef int perspective, count
    for perspective in range(COLORS):
        count = list_features(weights, pos, perspective, listed)
        nnue_accumulate(sums + perspective * weights.width, weights.bias, weights.width, weights.rows, NULL, 0, listed,
                        count)


cdef inline int value_from_scratch(const NnueWeights *weights, const Position *pos) noexcept nogil:
    cdef int16_t sums[COLORS * MAX_WIDTH]
    accumulate_from_scratch(weights, pos, sums)
    return value_of_sums(weights, pos, sums + pos.side * weights.width, sums + (pos.side ^ 1) * weights.width)
