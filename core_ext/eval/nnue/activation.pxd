"""Activations of the transformer's sums, in C: ranges in activation.h. `portable_` forms are for the tests.

`clip` is that of the NNUE of 2018, `multiply` that of SFNN, which halves the number of inputs. A new activation adds a
pair of kernels to activation.h and a branch to `activate`.
"""

from core_ext.shogi.types cimport int16_t, uint8_t

cdef extern from "eval/nnue/activation.h" nogil:
    void nnue_clip(uint8_t *out, const int16_t *sums, int width) noexcept
    void nnue_multiply(uint8_t *out, const int16_t *sums, int width) noexcept
    void portable_clip(uint8_t *out, const int16_t *sums, int width) noexcept
    void portable_multiply(uint8_t *out, const int16_t *sums, int width) noexcept


cdef inline void activate(uint8_t *out, const int16_t *ours, const int16_t *theirs, int width, bint sfnn,
                          bint portable) noexcept nogil:
    """Turn the sums of both perspectives, the side to move's first, into inputs of the dense layers."""
    if sfnn and portable:
        portable_multiply(out, ours, width)
        portable_multiply(out + width // 2, theirs, width)
    elif sfnn:
        nnue_multiply(out, ours, width)
        nnue_multiply(out + width // 2, theirs, width)
    elif portable:
        portable_clip(out, ours, width)
        portable_clip(out + width, theirs, width)
    else:
        nnue_clip(out, ours, width)
        nnue_clip(out + width, theirs, width)
