"""Assertions that compile away outside the debug profile."""

cdef extern from "debug.h" nogil:
    void ASSERT(bint condition)
