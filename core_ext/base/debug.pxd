"""Assertions that compile away outside the debug profile."""

cdef extern from "base/debug.h" nogil:
    enum:
        DEBUGGING
    void ASSERT(bint condition)
