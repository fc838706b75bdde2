"""Layer stacks in memory. Contracts are in stacks.pxd."""

from libc.string cimport memcpy

from core_ext.base.large_memory cimport LargeMemory
from core_ext.eval.nnue.kernels cimport NNUE_CHUNK, nnue_group
from core_ext.shogi.types cimport int8_t, int32_t, uint32_t

cdef enum:
    FILE_STEP = 32              # inputs of a layer are padded to a multiple of this in the file
    ALIGNED = 64                # each array in a stack
    WORD = 4
    LARGEST_BIAS = 1 << 30      # sums of this and all weights fit into 32 bits


# ---- sizes ----

cdef inline size_t padded(size_t count, size_t step) noexcept nogil:
    return (count + step - 1) // step * step


cdef list file_shapes(object architecture):
    """Return (outputs, inputs) of each layer."""
    hidden1, hidden2 = architecture.hidden1, architecture.hidden2
    if not architecture.sfnn:
        return [(hidden1, 2 * architecture.width), (hidden2, hidden1), (1, hidden2)]
    return [(hidden1 + (hidden1 % 8 == 7), architecture.width), (hidden2, 2 * hidden1), (1, hidden2)]


cdef int check_shards(LayerStacks *found, object architecture, int outputs) except -1:
    """Raise ValueError if the parts of a sharded layer 0 do not fit each other."""
    others, shards = architecture.width - architecture.common, architecture.shards
    if (not architecture.sfnn or shards < 2 or others <= 0 or others % (shards * NNUE_CHUNK)
            or architecture.common < 0 or architecture.common % NNUE_CHUNK or outputs % shards):
        raise ValueError(f"{shards} shards beside {architecture.common} common inputs do not fit "
                         f"{architecture.width} inputs and {outputs} outputs")
    found.common, found.shard = architecture.common, others // shards
    found.sharded, found.shard_outputs = outputs, outputs // shards
    return 0


cdef int check_hidden(object architecture) except -1:
    for units in (architecture.hidden1, architecture.hidden2):
        if not 1 <= units <= MAX_HIDDEN:
            raise ValueError(f"hidden layer of {units} units is not of 1 to {MAX_HIDDEN}")
    if architecture.sfnn and architecture.hidden1 % 8 not in (0, 7):
        raise ValueError(f"first hidden layer of {architecture.hidden1} units is not of 8n or 8n - 1, as SFNN needs")
    return 0


cdef int fill_sizes(LayerStacks *found, object architecture) except -1:
    cdef int outputs, i
    cdef size_t at = 0
    cdef size_t units[3]
    check_hidden(architecture)
    outputs, found.common = file_shapes(architecture)[0]
    found.sfnn = architecture.sfnn
    found.shortcut = architecture.hidden1 if outputs > architecture.hidden1 else -1
    found.shard, found.sharded, found.shard_outputs = 0, 0, outputs
    if architecture.shards != 1 or architecture.common:
        check_shards(found, architecture, outputs)
    found.outputs[0] = 8 if outputs <= 8 else <int>padded(outputs, 16)
    found.outputs[1] = <int>padded(architecture.hidden2, 16)
    found.group = nnue_group(found.common, found.outputs[0])
    units = [found.common, found.outputs[0] * (2 if found.sfnn else 1), found.outputs[1]]
    for i in range(2):
        found.bias[i], found.weights[i] = at, at + padded(found.outputs[i] * WORD, ALIGNED)
        at = found.weights[i] + padded(found.outputs[i] * units[i], ALIGNED)
    found.shards = at
    found.weights[2] = found.shards + found.outputs[0] * found.shard
    found.output_bias = found.weights[2] + units[2]
    found.stride = padded(found.output_bias + WORD, ALIGNED)
    return 0


# ---- memory ----

cdef inline int32_t little_endian(const uint8_t *at) noexcept nogil:
    return <int32_t>(at[0] | <uint32_t>at[1] << 8 | <uint32_t>at[2] << 16 | <uint32_t>at[3] << 24)


cdef const uint8_t *copy_biases(int32_t *out, const uint8_t *at, int outputs) except NULL:
    cdef int i
    for i in range(outputs):
        out[i] = little_endian(at + WORD * i)
        if not -LARGEST_BIAS <= out[i] <= LARGEST_BIAS:
            raise ValueError(f"a bias of a layer of {outputs} units is over {LARGEST_BIAS}: the sums would overflow")
    return at + WORD * outputs


cdef void copy_row(int8_t *out, const uint8_t *at, int start, int count, int room, int group) noexcept nogil:
    """Spread an output's weights of `count` inputs from `start` on over [inputs / group][room][group]."""
    cdef int k
    for k in range(start, start + count):
        out[k // group * room * group + k % group] = <int8_t>at[k - start]


cdef const uint8_t *copy_first(const LayerStacks *found, char *stack, const uint8_t *at, int outputs,
                               int inputs) noexcept nogil:
    """Copy the weights of layer 0: the common ones, then of each output those of its shard."""
    cdef int8_t *weights = <int8_t *>stack + found.weights[0]
    cdef int8_t *rows = <int8_t *>stack + found.shards
    cdef int i
    for i in range(outputs):
        copy_row(weights + found.group * i, at, 0, found.common, found.outputs[0], found.group)
        memcpy(rows + i * found.shard, at + found.common + i // found.shard_outputs * found.shard, found.shard)
        at += padded(inputs, FILE_STEP)
    return at


cdef const uint8_t *copy_second(const LayerStacks *found, char *stack, const uint8_t *at, int outputs,
                                int inputs) noexcept nogil:
    """Copy the weights of layer 1. In SFNN, the second half of the inputs moves behind the padding of layer 0."""
    cdef int8_t *weights = <int8_t *>stack + found.weights[1]
    cdef int half = inputs // 2 if found.sfnn else inputs, i
    for i in range(outputs):
        copy_row(weights + GROUP * i, at, 0, half, found.outputs[1], GROUP)
        copy_row(weights + GROUP * i, at + half, found.outputs[0], inputs - half, found.outputs[1], GROUP)
        at += padded(inputs, FILE_STEP)
    return at


cdef const uint8_t *copy_stack(const LayerStacks *found, char *stack, const uint8_t *at, list shapes) except NULL:
    """Copy one stack; return the end of its bytes."""
    cdef int outputs[3]
    cdef int inputs[3]
    cdef int i
    for i in range(3):
        outputs[i], inputs[i] = shapes[i]
    at = copy_biases(<int32_t *>(stack + found.bias[0]), at + WORD, outputs[0])
    at = copy_first(found, stack, at, outputs[0], inputs[0])
    at = copy_biases(<int32_t *>(stack + found.bias[1]), at, outputs[1])
    at = copy_second(found, stack, at, outputs[1], inputs[1])
    at = copy_biases(<int32_t *>(stack + found.output_bias), at, 1)
    memcpy(stack + found.weights[2], at, inputs[2])
    return at + padded(inputs[2], FILE_STEP)


cdef LargeMemory copy_stacks(LayerStacks *found, object architecture, int count, const uint8_t *dense, Py_ssize_t size):
    cdef list shapes = file_shapes(architecture)
    cdef Py_ssize_t one = WORD + sum([outputs * (WORD + padded(inputs, FILE_STEP)) for outputs, inputs in shapes])
    cdef const uint8_t *at = dense
    cdef LargeMemory memory
    cdef int i
    if size != count * one:
        raise ValueError(f"dense layers of {size} bytes, {count} x {one} expected")
    memory = LargeMemory(count * found.stride)
    for i in range(count):
        at = copy_stack(found, <char *>memory.start + i * found.stride, at, shapes)
    found.stacks = <char *>memory.start
    return memory
