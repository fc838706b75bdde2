"""The float model of a network and the state of one batch.

All weights lie in one array of floats, in the units of nn.bin (LAYOUT below), and so do Adam's moments, the gradient
and the weights that the forward pass uses: those are whole numbers in the quantisation-aware phase.

    transformer [tile][feature, then one row of biases][TILE]
    of each dense layer: weights [input][output], biases [output], both padded to whole COLUMN_STEPs with zeros

With HalfKP the transformer's features are the shared rows of half_kp.pxd; the rows' own parts lie in arrays there.
"""

from core_ext.learn.nnue.half_kp cimport OwnParts

from core_ext.learn.nnue.kernels cimport Kernels, Views
from core_ext.learn.training_position cimport TrainingPosition
from core_ext.shogi.types cimport uint8_t, uint64_t
from libc.stdint cimport uint16_t

cdef enum:
    LAYERS = 3
    SHARES = 8          # of a batch's positions: any number of threads sums them in the same order
    CHUNK = 64          # positions that go through the dense layers together
    ROW_GAP = 16        # floats between rows, so that they do not meet in one set of the cache

# A dense layer; inputs and outputs are padded.
cdef struct Layer:
    int inputs
    int outputs
    int weights         # offset in the flat arrays
    int biases
    float *turned       # weights as [output][input], for the backward pass

# Inputs of each layer for a chunk, and its sums or their gradients; rows of the padded length + ROW_GAP.
cdef struct Scratch:
    float *inputs[LAYERS]
    float *sums[LAYERS]

cdef struct Model:
    const Kernels *kernels
    int width
    int tiles
    float fv_scale      # output units in a centipawn
    int features        # rows of the transformer but for the biases
    OwnParts *own       # of HalfKP, or NULL
    int size            # floats of each flat array
    int dense           # offset of the first that is not the transformer's
    Layer layers[LAYERS]
    float *weights
    float *first        # Adam's moments
    float *second
    float *forward
    float *gradient
    float *shared[SHARES]   # the dense part's gradient of each share
    bint rounded

cdef struct Batch:
    const TrainingPosition *positions
    Views views
    uint16_t *active
    uint8_t *counts
    uint8_t *kings      # [position][2], own king's square, of HalfKP
    float *targets      # win probability of the side to move
    float *sums         # [position][2][width] of the transformer, then their gradients
    float *outputs      # of the last layer
    uint64_t seed       # of the mirror
    float score_scale
    float result_share
    double losses[SHARES]
