"""The dense layers behind the activated sums: three in a stack, and one stack or many.

Layer 0 may be sharded: all outputs see the first, common inputs; the others are divided into shards, each for a group
of outputs. SFNN passes squares and clipped values of layer 0 to layer 1; it may add the last output of layer 0 to the
network's (shortcut).
"""

from core_ext.base.large_memory cimport LargeMemory
from core_ext.shogi.types cimport uint8_t

cdef enum:
    MAX_INPUTS = 16384          # of layer 0
    MAX_HIDDEN = 128
    GROUP = 4                   # inputs of a group of weights, in layer 1

# Stacks of `stride` bytes, each in the same layout, with biases int32 and weights int8. Weights of layers 0 (its common
# part) and 1 as in dense.h, those of the shards [outputs][shard], those of layer 2 in the order of the inputs.
cdef struct LayerStacks:
    bint sfnn
    int shortcut                # the output of layer 0 that is added; -1: none
    int common                  # inputs of layer 0 that all outputs see
    int shard                   # inputs that one output sees besides; 0: layer 0 is not sharded
    int sharded                 # outputs with a shard: all, without the padding
    int shard_outputs           # outputs that see the same shard
    int group                   # inputs of a group of layer 0's weights, see dense.h
    int outputs[2]              # of layers 0 and 1, padded
    size_t bias[2]              # offsets in a stack
    size_t weights[3]
    size_t shards
    size_t output_bias
    size_t stride
    const char *stacks

# Fill in sizes and offsets. ValueError if play does not support this architecture.
cdef int fill_sizes(LayerStacks *found, object architecture) except -1
# Copy `count` stacks from `size` bytes of a file: each a hash, then for each layer biases and weights. Return their
# memory. ValueError if they need another size or a bias may overflow; MemoryError.
cdef LargeMemory copy_stacks(LayerStacks *found, object architecture, int count, const uint8_t *dense, Py_ssize_t size)
