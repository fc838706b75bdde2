"""The network's integer kernels, in C. Layouts and bounds: layers.h. `portable_` forms are for the tests."""

from core_ext.shogi.types cimport int8_t, int16_t, int32_t, uint8_t, uint32_t

cdef extern from "eval/nnue/layers.h" nogil:
    const char *NNUE_INSTRUCTIONS
    void nnue_accumulate(int16_t *out, const int16_t *sums, int width, const int16_t *rows, const int32_t *removed,
                         int removals, const int32_t *added, int additions) noexcept
    void nnue_activate(uint8_t *out, const int16_t *sums, int width) noexcept
    void nnue_affine(int32_t *out, const uint8_t *inputs, int input_count, int outputs, const int8_t *weights,
                     const int32_t *bias, const uint32_t *used) noexcept
    void nnue_find_used(uint32_t *used, const int8_t *weights, int inputs, int outputs) noexcept
    void nnue_hidden(uint8_t *out, const int32_t *sums, int count) noexcept
    int32_t nnue_output(const uint8_t *inputs, int input_count, const int8_t *weights, int32_t bias) noexcept
    void portable_accumulate(int16_t *out, const int16_t *sums, int width, const int16_t *rows, const int32_t *removed,
                             int removals, const int32_t *added, int additions) noexcept
    void portable_activate(uint8_t *out, const int16_t *sums, int width) noexcept
    void portable_affine(int32_t *out, const uint8_t *inputs, int input_count, int outputs, const int8_t *weights,
                         const int32_t *bias) noexcept
    void portable_hidden(uint8_t *out, const int32_t *sums, int count) noexcept
