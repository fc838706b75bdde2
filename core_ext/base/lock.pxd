"""A spin lock for short sections."""

cdef extern from "base/lock.h" nogil:
    # All zero: free.
    ctypedef struct Lock:
        pass
    void acquire_lock(Lock *lock)
    void release_lock(Lock *lock)
