"""Kernels of the dense layers, in C. Layouts and bounds: dense.h, hidden.h. `portable_` forms are for the tests."""

from core_ext.shogi.types cimport int8_t, int32_t, uint8_t

cdef extern from "eval/nnue/dense.h" nogil:
    enum:
        NNUE_CHUNK
    void nnue_affine(int32_t *out, const uint8_t *inputs, int input_count, int outputs, int group,
                     const int8_t *weights, const int32_t *bias, bint sparse) noexcept
    int32_t nnue_dot_row(const uint8_t *inputs, const int8_t *weights, int count) noexcept
    int nnue_group(int inputs, int outputs) noexcept
    void portable_affine(int32_t *out, const uint8_t *inputs, int input_count, int outputs, int group,
                         const int8_t *weights, const int32_t *bias) noexcept
    int32_t portable_dot(const uint8_t *inputs, const int8_t *weights, int count) noexcept

cdef extern from "eval/nnue/hidden.h" nogil:
    void nnue_hidden(uint8_t *out, const int32_t *sums, int count) noexcept
    void nnue_squares(uint8_t *out, const int32_t *sums, int count) noexcept
    void portable_hidden(uint8_t *out, const int32_t *sums, int count) noexcept
    void portable_squares(uint8_t *out, const int32_t *sums, int count) noexcept
