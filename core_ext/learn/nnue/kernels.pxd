"""The inner loops that train a network; their contracts stand in kernels.h."""

from core_ext.shogi.types cimport int32_t, uint8_t
from libc.stdint cimport uint16_t

cdef extern from "learn/nnue/lanes.h":     # included by the next; named here so that an edit of it is compiled
    pass

cdef extern from "learn/nnue/kernels.h" nogil:
    enum:
        TILE
        ACTIVE_ROOM
        OWN_ARRAYS
        UPDATES_AHEAD
        COLUMN_STEP
        ROW_STEP
    ctypedef struct Views:
        const uint16_t *active
        const uint8_t *counts
        const int32_t *order
        int count
        int positions
    ctypedef struct UsedRow:
        int32_t number
        int32_t offset
        float keep
        float rate
        float second_correction
    ctypedef struct Product:
        const float *left
        const float *right
        const float *start
        float *out
        int left_step
        int left_column_step
        int right_step
        int start_step
        int out_step
        int rows
        int inner
        int columns
    ctypedef struct AdamStep:
        float rate
        float second_correction
        float epsilon
        float keep
        float limit
        int rounded
    ctypedef struct Kernels:
        const char *name
        void (*transform_tile)(const float *rows, int features, const Views *views, float *sums,
                               int width) noexcept nogil
        void (*collect_tile)(float *rows, int features, const Views *views, const float *deltas,
                             int width) noexcept nogil
        void (*multiply)(const Product *product) noexcept nogil
        void (*clip)(const float *sums, float factor, int rounded, float *out, int count) noexcept nogil
        void (*unclip)(const float *activations, float factor, float *deltas, int count) noexcept nogil
        void (*add_rows)(float *out, const float *rows, int step, int count, int columns) noexcept nogil
        void (*improve)(float *weights, float *first, float *second, float *forward, const float *gradient, int count,
                        const AdamStep *step) noexcept nogil
        void (*sum_parts)(const UsedRow *used, int count, const float *own, const float *shared, int rounded,
                          float *rows) noexcept nogil
    void prefetch_tile(const float *row) noexcept
    const Kernels compiled_kernels
