"""The weights in memory, and the value. Contracts are in network.pxd."""

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

from core_ext.base.memory cimport allocate_large, release_large
from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.eval.nnue.accumulator cimport (
    MAX_WIDTH, MIN_WIDTH, NnueState, NnueWeights, WIDTH_STEP, accumulate, accumulate_from_scratch, allocate_sums,
    free_sums,
)
from core_ext.eval.nnue.activation cimport activate
from core_ext.eval.nnue.features cimport fill_features
from core_ext.eval.nnue.rows cimport NNUE_INSTRUCTIONS
from core_ext.eval.nnue.selector cimport fill_selector, select_stack
from core_ext.eval.nnue.stacks cimport MAX_INPUTS, copy_stacks, fill_sizes, run_stack
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, MAX_EVALUATION, SQUARES, int16_t, int32_t, uint8_t

from types import SimpleNamespace

INSTRUCTIONS = NNUE_INSTRUCTIONS.decode()


def _numbers(values):
    return tuple([int(value) for value in values])


def _exact_set(described):
    return SimpleNamespace(buckets=int(described.buckets), kings=[_numbers(pair) for pair in described.kings])


def _exact_classes(classes):
    return None if classes is None else SimpleNamespace(kinds=_numbers(classes.kinds), points=bool(classes.points))


# The attributes of an architecture, with what makes an exact value of each.
_ATTRIBUTES = {
    "feature_set": _exact_set, "width": int, "hidden1": int, "hidden2": int, "sfnn": bool,
    "hand_classes": _exact_classes, "king_zones": _numbers, "progress_starts": _numbers, "common": int, "shards": int,
}

cdef enum:
    HUGE_PAGE = 2 << 20
    ALIGNED = 64

assert MAX_INPUTS == 2 * MAX_WIDTH


# ---- values ----

cdef inline int in_centipawns(const NnueWeights *weights, int32_t output) noexcept nogil:
    """Convert to centipawns, rounded towards 0 as in YaneuraOu."""
    return max(-MAX_EVALUATION, min(MAX_EVALUATION, output // weights.fv_scale))


cdef inline int propagate(const NnueWeights *weights, const Position *pos, const int16_t *ours, const int16_t *theirs,
                          bint portable) noexcept nogil:
    """Return the value from the transformer's sums; `portable` is a constant at each call."""
    cdef uint8_t room[MAX_INPUTS + ALIGNED]
    cdef uint8_t *inputs = <uint8_t *>((<uintptr_t>room + ALIGNED - 1) & ~<uintptr_t>(ALIGNED - 1))
    activate(inputs, ours, theirs, weights.width, weights.stacks.sfnn, portable)
    return in_centipawns(weights, run_stack(&weights.stacks, select_stack(&weights.selector, pos), inputs, portable))


cdef int nnue_evaluate(NnueState *state, const Position *pos) noexcept nogil:
    cdef const int16_t *sums[COLORS]
    accumulate(state, pos, sums)
    return propagate(state.weights, pos, sums[pos.side], sums[pos.side ^ 1], False)


cdef int nnue_evaluate_from_scratch(const NnueWeights *weights, const Position *pos) noexcept nogil:
    cdef int16_t sums[COLORS * MAX_WIDTH]
    accumulate_from_scratch(weights, pos, sums)
    return propagate(weights, pos, sums + pos.side * weights.width, sums + (pos.side ^ 1) * weights.width, True)


cdef int nnue_init(NnueState *state, Network network) except -1:
    if allocate_sums(state, &network.weights) < 0:
        raise MemoryError("no memory for an evaluator")
    return 0


cdef void nnue_free(NnueState *state) noexcept nogil:
    free_sums(state)


# ---- memory ----

cdef int fill_parts(NnueWeights *weights, object architecture) except -1:
    """Fill in everything but the weights; return the number of layer stacks. ValueError."""
    cdef int step = 2 * WIDTH_STEP if architecture.sfnn else WIDTH_STEP, stacks
    width = architecture.width
    if not MIN_WIDTH <= width <= MAX_WIDTH or width % step:
        raise ValueError(f"width {width} is not {MIN_WIDTH} to {MAX_WIDTH} in steps of {step}")
    weights.width = width
    fill_features(&weights.features, architecture.feature_set)
    stacks = fill_selector(&weights.selector, architecture)
    if stacks > 1 and not architecture.sfnn:
        raise ValueError(f"{stacks} layer stacks, which only SFNN has")
    fill_sizes(&weights.stacks, architecture)
    return stacks


cdef object exact(architecture):
    """Return a copy that holds plain numbers and texts: each attribute is read once, and cannot change any more."""
    return SimpleNamespace(**{name: kind(getattr(architecture, name)) for name, kind in _ATTRIBUTES.items()})


def check_architecture(architecture):
    """Raise ValueError if play takes no network of this architecture."""
    cdef NnueWeights weights
    fill_parts(&weights, exact(architecture))


cdef int copy_rows(Network network, const int16_t[::1] bias, const int16_t[:, ::1] weight) except -1:
    """Copy into whole huge pages, as rows are read at random. The biases follow the rows."""
    cdef size_t row = network.weights.width * sizeof(int16_t), rows = weight.shape[0] * row
    cdef size_t room = (rows + row + HUGE_PAGE - 1) // HUGE_PAGE * HUGE_PAGE
    cdef char *start
    found, expected = (weight.shape[0], weight.shape[1]), (network.weights.features.count, network.weights.width)
    if found != expected or bias.shape[0] != network.weights.width:
        raise ValueError(f"transformer of the shape {found} with {bias.shape[0]} biases, {expected} expected")
    start = <char *>allocate_large(room, &network.rows_block)
    if start == NULL:
        raise MemoryError("no memory for a network")
    memcpy(start, &weight[0, 0], rows)
    memcpy(start + rows, &bias[0], row)
    network.weights.rows = <const int16_t *>start
    network.weights.bias = <const int16_t *>(start + rows)
    return 0


cdef int take_progress(Network network, progress) except -1:
    cdef const int32_t[::1] words
    if network.weights.selector.steps == 1 and progress is None:
        return 0
    if network.weights.selector.steps == 1 or progress is None:
        raise ValueError("weights of the progress are not those of the layer stacks")
    network.weights.selector.bias = progress[0]
    words = network.progress = memoryview(memoryview(progress[1]).cast("B").tobytes()).cast("i")
    if words.shape[0] != SQUARES * BONAPIECES:
        raise ValueError(f"{words.shape[0]} weights of the progress, {SQUARES * BONAPIECES} expected")
    network.weights.selector.progress = &words[0]
    return 0


cdef class Network:
    """A network for play, copied from arrays. ValueError if a size does not fit, MemoryError.

    `architecture` has the attributes of usi_engine.evaluation.architecture.Architecture. `bias` and `weight` are those
    of the transformer, [width] and [features][width] int16; for SFNN doubled, as play uses them. `dense` has the bytes
    of all layer stacks as in nn.bin: for each a hash, then for each layer biases int32 [outputs] and weights int8
    [outputs][inputs padded to 32], whose padding is ignored. `progress` is None or the bias and the weights int32
    [81][1548] of the game's progress. `fv_scale` output units are a centipawn.
    """

    def __cinit__(self, architecture, const int16_t[::1] bias, const int16_t[:, ::1] weight, dense, progress,
                  int fv_scale):
        if fv_scale < 1:
            raise ValueError(f"{fv_scale} output units in a centipawn: at least 1 expected")
        self.architecture = architecture
        self.weights.fv_scale = fv_scale
        shape = exact(architecture)
        stacks = fill_parts(&self.weights, shape)
        copy_rows(self, bias, weight)
        take_progress(self, progress)
        copy_stacks(&self.weights.stacks, shape, stacks, memoryview(dense).cast("B"), &self.stacks_block)

    def __dealloc__(self):
        release_large(self.rows_block)
        release_large(self.stacks_block)

    @property
    def width(self):
        """Sums of one perspective's transformer."""
        return self.weights.width

    @property
    def fv_scale(self):
        """Output units in a centipawn."""
        return self.weights.fv_scale
