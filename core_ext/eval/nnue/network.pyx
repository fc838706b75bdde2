"""The weights in memory, and the value. Contracts are in network.pxd."""

from libc.string cimport memcpy

from core_ext.base.memory cimport allocate_large, release_large
from core_ext.eval.nnue.accumulator cimport (
    HIDDEN_STEP, MAX_HIDDEN, MAX_WIDTH, MIN_HIDDEN, MIN_WIDTH, NnueState, NnueWeights, WIDTH_STEP, accumulate,
    accumulate_from_scratch, allocate_sums, free_sums,
)
from core_ext.eval.nnue.features cimport FEATURE_SETS, HALF_KP, K_P, feature_count
from core_ext.eval.nnue.layers cimport (
    NNUE_INSTRUCTIONS, nnue_activate, nnue_affine, nnue_find_used, nnue_hidden, nnue_output, portable_activate,
    portable_affine, portable_hidden,
)
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, MAX_EVALUATION, int8_t, int16_t, int32_t, uint8_t

INSTRUCTIONS = NNUE_INSTRUCTIONS.decode()

_SETS = {"K+P": K_P, "HalfKP": HALF_KP}
assert len(_SETS) == FEATURE_SETS
FEATURE_COUNTS = {name: feature_count(kind) for name, kind in _SETS.items()}

cdef enum:
    PADDED_INPUTS = 32      # of a dense layer, in the file and in the arrays given
    HUGE_PAGE = 2 << 20


# ---- values ----

cdef inline int in_centipawns(const NnueWeights *weights, int32_t output) noexcept nogil:
    """Convert to centipawns, rounded towards 0 as in YaneuraOu."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, output // weights.fv_scale))


cdef inline void hidden_layer(const NnueWeights *weights, int layer, uint8_t *out, const uint8_t *inputs, int count,
                              bint portable) noexcept nogil:
    cdef int32_t sums[MAX_HIDDEN]
    cdef int units = weights.hidden[layer]
    if portable:
        portable_affine(sums, inputs, count, units, weights.hidden_weights[layer], weights.hidden_bias[layer])
        portable_hidden(out, sums, units)
    else:
        nnue_affine(sums, inputs, count, units, weights.hidden_weights[layer], weights.hidden_bias[layer],
                    weights.used[layer])
        nnue_hidden(out, sums, units)


cdef inline int propagate(const NnueWeights *weights, const int16_t *ours, const int16_t *theirs,
                          bint portable) noexcept nogil:
    """Return the value from the sums of the first layer; `portable` is a constant at each call."""
    cdef uint8_t inputs[2 * MAX_WIDTH]
    cdef uint8_t first[MAX_HIDDEN]
    cdef uint8_t second[MAX_HIDDEN]
    cdef int width = weights.width
    if portable:
        portable_activate(inputs, ours, width)
        portable_activate(inputs + width, theirs, width)
    else:
        nnue_activate(inputs, ours, width)
        nnue_activate(inputs + width, theirs, width)
    hidden_layer(weights, 0, first, inputs, 2 * width, portable)
    hidden_layer(weights, 1, second, first, weights.hidden[0], portable)
    return in_centipawns(weights, nnue_output(second, weights.hidden[1], weights.output_weights, weights.output_bias))


cdef int nnue_evaluate(NnueState *state, const Position *pos) noexcept nogil:
    cdef const int16_t *sums[COLORS]
    accumulate(state, pos, sums)
    return propagate(state.weights, sums[pos.side], sums[pos.side ^ 1], False)


cdef int nnue_evaluate_from_scratch(const NnueWeights *weights, const Position *pos) noexcept nogil:
    cdef int16_t sums[COLORS * MAX_WIDTH]
    accumulate_from_scratch(weights, pos, sums)
    return propagate(weights, sums + pos.side * weights.width, sums + (pos.side ^ 1) * weights.width, True)


cdef int nnue_init(NnueState *state, Network network) except -1:
    if allocate_sums(state, &network.weights) < 0:
        raise MemoryError("no memory for an evaluator")
    return 0


cdef void nnue_free(NnueState *state) noexcept nogil:
    free_sums(state)


# ---- memory ----

cdef inline int padded(int count, int step) noexcept nogil:
    return (count + step - 1) // step * step


def check_sizes(width: int, hidden1: int, hidden2: int):
    """Raise ValueError if play takes no network with this width and these hidden units."""
    if not MIN_WIDTH <= width <= MAX_WIDTH or width % WIDTH_STEP:
        raise ValueError(f"width {width} is not {MIN_WIDTH} to {MAX_WIDTH} in steps of {WIDTH_STEP}")
    for units in (hidden1, hidden2):
        if not MIN_HIDDEN <= units <= MAX_HIDDEN:
            raise ValueError(f"hidden layer of {units} units is not of {MIN_HIDDEN} to {MAX_HIDDEN}")


cdef int check_shape(str what, tuple shape, tuple expected) except -1:
    if shape != expected:
        raise ValueError(f"{what} of a network have the shape {shape}, expected {expected}")
    return 0


cdef void lay_out(int8_t *out, const int8_t[:, ::1] weight, int inputs, int outputs) noexcept:
    """Reorder [output][input] as [inputs / 4][outputs][4]; the padding stays 0."""
    cdef Py_ssize_t i, k
    for i in range(weight.shape[0]):
        for k in range(inputs):
            out[(k // 4 * outputs + i) * 4 + k % 4] = weight[i, k]


cdef int copy_rows(Network network, const int16_t[::1] bias, const int16_t[:, ::1] weight) except -1:
    """Copy into whole huge pages, as rows are read at random. The biases follow the rows."""
    cdef size_t row = network.weights.width * sizeof(int16_t), rows = weight.shape[0] * row
    cdef size_t room = (rows + row + HUGE_PAGE - 1) // HUGE_PAGE * HUGE_PAGE
    cdef char *start = <char *>allocate_large(room, &network.rows_block)
    if start == NULL:
        raise MemoryError("no memory for a network")
    memcpy(start, &weight[0, 0], rows)
    memcpy(start + rows, &bias[0], row)
    network.weights.rows = <const int16_t *>start
    network.weights.bias = <const int16_t *>(start + rows)
    return 0


cdef int copy_layers(Network network, list layers) except -1:
    cdef int inputs = 2 * network.weights.width, i
    cdef int8_t *at
    for i in range(2):
        network.weights.hidden[i] = padded(network.hidden[i], HIDDEN_STEP)
    at = <int8_t *>allocate_large((inputs + 4 * MAX_HIDDEN) * 2 * MAX_HIDDEN, &network.layers_block)
    if at == NULL:
        raise MemoryError("no memory for a network")
    at = copy_hidden(network, 0, at, layers[0][0], layers[0][1], inputs)
    at = copy_hidden(network, 1, at, layers[1][0], layers[1][1], network.hidden[0])
    copy_output(network, at, layers[2][0], layers[2][1])
    return 0


cdef int8_t *copy_hidden(Network network, int i, int8_t *at, const int32_t[::1] bias, const int8_t[:, ::1] weight,
                         int inputs) except NULL:
    """Copy the biases and weights of one hidden layer; return the start of the next one."""
    cdef int units = network.weights.hidden[i], room = padded(inputs, HIDDEN_STEP)
    check_shape(f"biases of hidden layer {i + 1}", (bias.shape[0],), (network.hidden[i],))
    check_shape(f"weights of hidden layer {i + 1}", (weight.shape[0], weight.shape[1]),
                (bias.shape[0], padded(inputs, PADDED_INPUTS)))
    memcpy(at, &bias[0], bias.shape[0] * sizeof(int32_t))
    network.weights.hidden_bias[i] = <const int32_t *>at
    at += units * sizeof(int32_t)
    lay_out(at, weight, inputs, units)
    network.weights.hidden_weights[i] = at
    nnue_find_used(network.weights.used[i], at, inputs, units)
    return at + room * units


cdef int copy_output(Network network, int8_t *at, const int32_t[::1] bias, const int8_t[:, ::1] weight) except -1:
    check_shape("biases of the output", (bias.shape[0],), (1,))
    check_shape("weights of the output", (weight.shape[0], weight.shape[1]),
                (1, padded(network.hidden[1], PADDED_INPUTS)))
    memcpy(at, &weight[0, 0], network.hidden[1])
    network.weights.output_weights = at
    memcpy(&network.weights.output_bias, &bias[0], sizeof(int32_t))
    return 0


cdef class Network:
    """A network for play, copied from arrays. ValueError if a size does not fit, MemoryError.

    `features` is "K+P" or "HalfKP"; `bias` and `weight` are those of the first layer, [width] and [features][width]
    int16; `layers` are three pairs of biases [outputs] int32 and weights [outputs][inputs padded to 32] int8, whose
    padding is ignored. `fv_scale` output units are a centipawn. The attribute `hidden` is the pair of units in the two
    hidden layers.
    """

    def __cinit__(self, features: str, const int16_t[::1] bias, const int16_t[:, ::1] weight, layers, int fv_scale):
        if features not in _SETS:
            raise ValueError(f"unknown features '{features}'; one of {', '.join(_SETS)}")
        if fv_scale < 1:
            raise ValueError(f"{fv_scale} output units in a centipawn: at least 1 expected")
        if len(layers) != 3:
            raise ValueError(f"a network of {len(layers)} dense layers, 3 expected")
        self.features = features
        self.hidden = tuple([len(layers[i][0]) for i in range(2)])
        check_sizes(bias.shape[0], *self.hidden)
        self.weights.kind = _SETS[features]
        self.weights.width = <int>bias.shape[0]
        self.weights.fv_scale = fv_scale
        check_shape("first-layer weights", (weight.shape[0], weight.shape[1]),
                    (feature_count(self.weights.kind), self.weights.width))
        copy_rows(self, bias, weight)
        copy_layers(self, list(layers))

    def __dealloc__(self):
        release_large(self.rows_block)
        release_large(self.layers_block)

    @property
    def width(self):
        """Sums of one colour's first layer."""
        return self.weights.width

    @property
    def fv_scale(self):
        """Output units in a centipawn."""
        return self.weights.fv_scale
