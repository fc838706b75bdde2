"""The weights in memory, and the value. Contracts are in network.pxd."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.string cimport memcpy

from core_ext.base.large_memory cimport LargeMemory
from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.eval.nnue.accumulator cimport (
    MAX_WIDTH, MIN_WIDTH, NnueState, NnueWeights, WIDTH_STEP, accumulate,
)
from core_ext.eval.nnue.features cimport fill_features
from core_ext.eval.nnue.forward cimport value_of_sums
from core_ext.eval.nnue.kernels cimport NNUE_INSTRUCTIONS
from core_ext.eval.nnue.selector cimport fill_selector
from core_ext.eval.nnue.stacks cimport MAX_INPUTS, copy_stacks, fill_sizes
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport COLORS, SQUARES, int16_t, int32_t, uint8_t

from types import SimpleNamespace

INSTRUCTIONS = NNUE_INSTRUCTIONS.decode()


def _numbers(values):
    return tuple([int(value) for value in values])


def _exact_set(described):
    return SimpleNamespace(buckets=int(described.buckets), kings=[_numbers(pair) for pair in described.kings])


def _exact_classes(classes):
    if classes is None:
        return None
    return SimpleNamespace(kinds=_numbers(classes.kinds), points=int(classes.points), count=int(classes.count))


# The attributes of an architecture, with what makes an exact value of each.
_ATTRIBUTES = {
    "feature_set": _exact_set, "width": int, "hidden1": int, "hidden2": int, "sfnn": bool,
    "hand_classes": _exact_classes, "king_zones": _numbers, "progress_starts": _numbers, "common": int, "shards": int,
}

assert MAX_INPUTS == 2 * MAX_WIDTH


# ---- values ----

cdef int nnue_evaluate(NnueState *state, const Position *pos) noexcept nogil:
    cdef const int16_t *sums[COLORS]
    accumulate(state, pos, sums)
    return value_of_sums(state.weights, pos, sums[pos.side], sums[pos.side ^ 1])


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
    """Raise ValueError if play does not support this architecture."""
    cdef NnueWeights weights
    fill_parts(&weights, exact(architecture))


def weight_memory(size):
    """Return memory of `size` bytes, zeros at first, for the weights of a Network. ValueError, MemoryError."""
    return memoryview(LargeMemory(size))


cdef int take_rows(Network network, const int16_t[:, ::1] weight, owner) except -1:
    """Keep weights that are at the start of a LargeMemory, their `owner`; copy others into one."""
    found, expected = (weight.shape[0], weight.shape[1]), (network.weights.features.count, network.weights.width)
    if found != expected:
        raise ValueError(f"transformer of the shape {found}, {expected} expected")
    if isinstance(owner, LargeMemory) and (<LargeMemory>owner).start == <const void *>&weight[0, 0]:
        network.rows = owner
    else:
        network.rows = LargeMemory(weight.nbytes)
        memcpy(network.rows.start, &weight[0, 0], weight.nbytes)
    network.weights.rows = <const int16_t *>network.rows.start
    return 0


cdef int take_bias(Network network, const int16_t[::1] bias) except -1:
    if bias.shape[0] != network.weights.width:
        raise ValueError(f"{bias.shape[0]} biases of the transformer, {network.weights.width} expected")
    network.bias = PyBytes_FromStringAndSize(<const char *>&bias[0], bias.nbytes)
    network.weights.bias = <const int16_t *>PyBytes_AS_STRING(network.bias)
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
    """A network for play, from arrays that are copied. ValueError if a size does not fit, MemoryError.

    `architecture` has the attributes of usi_engine.evaluation.architecture.Architecture. `bias` and `weight` are those
    of the transformer, [width] and [features][width] int16; for SFNN doubled, as play uses them. A `weight` at the
    start of a `weight_memory` is not copied, and must not be written any more. `dense` has the bytes of all layer
    stacks as in nn.bin: for each a hash, then for each layer biases int32 [outputs] and weights int8 [outputs][inputs
    padded to 32], whose padding is ignored. `progress` is None or the bias and the weights int32 [81][1548] of the
    game's progress. `fv_scale` output units are a centipawn.
    """

    def __cinit__(self, architecture, bias, weight, dense, progress, int fv_scale):
        cdef const uint8_t[::1] layers
        if fv_scale < 1:
            raise ValueError(f"{fv_scale} output units in a centipawn: at least 1 expected")
        self.architecture = architecture
        self.weights.fv_scale = fv_scale
        shape = exact(architecture)
        stacks = fill_parts(&self.weights, shape)
        take_bias(self, bias)
        take_rows(self, weight, getattr(weight, "obj", None))
        take_progress(self, progress)
        layers = memoryview(dense).cast("B")
        self.stacks = copy_stacks(&self.weights.stacks, shape, stacks, &layers[0] if layers.shape[0] else NULL,
                                  layers.shape[0])

    @property
    def width(self):
        """Sums of one perspective's transformer."""
        return self.weights.width

    @property
    def fv_scale(self):
        """Output units in a centipawn."""
        return self.weights.fv_scale
