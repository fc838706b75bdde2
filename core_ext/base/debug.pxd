"""Assertions that compile away outside the debug profile."""

cdef extern from "base/debug.h" nogil:
    void ASSERT(bint condition)
