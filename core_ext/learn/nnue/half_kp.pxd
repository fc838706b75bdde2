"""The transformer's rows of a HalfKP network that learns: one for each square of the own king and Bonapiece number.

Each is a sum of three parts, of which only the first is the row's own; export adds them up (factorized features, as in
NNUE trainers since nodchip's):

    own part [king][number]     learns what is special of the number with the own king there
    shared row of the number    (P), learns with all kings
    shared row of the offset    kind of the piece, files and ranks from the king (relative KP); none for pieces in hand

The shared rows are few; Adam updates them at every step. Of the 125,388 own parts a batch uses some 20,000, and only
these are updated: their moments take no part in the steps of other batches, so the biases of the moments are corrected
by the number of the part's own steps; the weight decay of the steps that it was left out of is made up for when it is
next used, in the forward pass already. Until its first use a part is zero, and the row is the sum of its shared rows.

Half of the parts that a batch uses are used by one of its positions, so that their gradients are mostly noise, which
Adam scales up to full steps. The n-th step of a part is therefore 1 / sqrt(n) of Adam's: with 4 million positions the
divergence is 0.0407 for 0.0430 (docs/findings.md).

A batch's views are taken in groups of one own king, a tile of columns at a time, so that the rows stay in the cache.
"""

from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.eval.nnue.features cimport HALF_KP_FEATURES
from core_ext.learn.factorized cimport OFFSETS
from core_ext.learn.nnue.kernels cimport AdamStep, Kernels, UsedRow, Views
from core_ext.shogi.types cimport SQUARES, int32_t, uint8_t

cdef enum:
    SHARED_ROWS = BONAPIECES + OFFSETS

cdef struct OwnParts:
    float *rows         # [tile][HALF_KP_FEATURES][weights, Adam's first and second moments][TILE]
    float *gradient     # [tile][HALF_KP_FEATURES][TILE], if asked for
    int32_t *steps      # [HALF_KP_FEATURES] updates of each part
    double *decayed     # [HALF_KP_FEATURES] `decay` when it was last updated
    double *decay       # -log of what decay has left of a weight since the first step

# Of one thread: a batch's views by own king.
cdef struct Groups:
    int32_t *order                      # numbers of the views
    int32_t starts[SQUARES + 1]         # start of each king's in it
    UsedRow *used                       # the features of these views, ascending
    int32_t used_starts[SQUARES + 1]
    float *rows                         # [BONAPIECES + 1][TILE]: one king's rows or their gradients, then the biases

# A tile of the model and of the batch's sums, from its first column.
cdef struct TilePart:
    const Kernels *kernels
    int number
    int width           # from one view's sums to the next one's
    bint rounded
    const float *shared     # [SHARED_ROWS][TILE]
    const float *biases
    float *gradient     # [SHARED_ROWS + 1][TILE]: of the shared rows, then of the biases
    float *sums

cdef class HalfKpRows:
    cdef OwnParts parts
    cdef readonly object rows, gradient, steps, decayed, decay

# The group of each view; `kings` are the views' own kings.
cdef void group_views(const OwnParts *own, const Views *views, const uint8_t *kings, Groups *groups) noexcept nogil
cdef void transform_groups(const OwnParts *own, const Groups *groups, const Views *views,
                           const TilePart *tile) noexcept nogil
# The gradients of a tile. `step`, without the correction of biases, updates the own parts; if it is NULL, their
# gradient is stored.
cdef void collect_groups(OwnParts *own, const Groups *groups, const Views *views, const TilePart *tile,
                         const AdamStep *step) noexcept nogil
# When all tiles are updated: count the step. `decay` is the weight decay times the rate.
cdef void finish_step(OwnParts *own, const Groups *groups, double decay) noexcept nogil
# All rows of an own king and a tile, as the file has them but for the rounding.
cdef void sum_king(const OwnParts *own, int king, const TilePart *tile, UsedRow *used, float *rows) noexcept nogil
