"""Rows added to the transformer's sums, in C: layouts in rows.h. `portable_` forms are for the tests."""

from core_ext.shogi.types cimport int16_t, int32_t

cdef extern from "eval/nnue/rows.h" nogil:
    const char *NNUE_INSTRUCTIONS
    void nnue_accumulate(int16_t *out, const int16_t *sums, int width, const int16_t *rows, const int32_t *removed,
                         int removals, const int32_t *added, int additions) noexcept
    void portable_accumulate(int16_t *out, const int16_t *sums, int width, const int16_t *rows, const int32_t *removed,
                             int removals, const int32_t *added, int additions) noexcept
