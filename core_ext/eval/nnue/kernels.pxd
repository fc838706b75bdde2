"""Kernels of the network, in C: rows added to the transformer's sums, their activation, and the dense layers.

Layouts, ranges and bounds are in the headers. `clip` is the activation of the NNUE of 2018, `multiply` that of SFNN,
which halves the number of inputs. A new activation adds a pair of kernels to activation.h and a branch to `activate`.
"""

from core_ext.shogi.types cimport int8_t, int16_t, int32_t, uint8_t

cdef extern from "eval/nnue/rows.h" nogil:
    const char *NNUE_INSTRUCTIONS
    void nnue_accumulate(int16_t *out, const int16_t *sums, int width, const int16_t *rows, const int32_t *removed,
                         int removals, const int32_t *added, int additions) noexcept

cdef extern from "eval/nnue/activation.h" nogil:
    void nnue_clip(uint8_t *out, const int16_t *sums, int width) noexcept
    void nnue_multiply(uint8_t *out, const int16_t *sums, int width) noexcept

cdef extern from "eval/nnue/dense.h" nogil:
    enum:
        NNUE_CHUNK
    void nnue_affine(int32_t *out, const uint8_t *inputs, int input_count, int outputs, int group,
                     const int8_t *weights, const int32_t *bias, bint sparse) noexcept
    int32_t nnue_dot_row(const uint8_t *inputs, const int8_t *weights, int count) noexcept
    int nnue_group(int inputs, int outputs) noexcept

cdef extern from "eval/nnue/hidden.h" nogil:
    void nnue_hidden(uint8_t *out, const int32_t *sums, int count) noexcept
    void nnue_squares(uint8_t *out, const int32_t *sums, int count) noexcept


cdef inline void activate(uint8_t *out, const int16_t *ours, const int16_t *theirs, int width,
                          bint sfnn) noexcept nogil:
    """Turn the sums of both perspectives, the side to move's first, into inputs of the dense layers."""
    if sfnn:
        nnue_multiply(out, ours, width)
        nnue_multiply(out + width // 2, theirs, width)
    else:
        nnue_clip(out, ours, width)
        nnue_clip(out + width, theirs, width)
