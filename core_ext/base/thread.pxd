"""Threads of the system that run C code only, without Python."""

cdef extern from "base/thread.h" nogil:
    # All zero: never started.
    ctypedef struct Thread:
        pass
    # Start a thread; `run` ends with end_thread. The caller holds the GIL. Return False if the system refuses.
    bint start_thread(Thread *thread, void (*run)(void *) noexcept nogil, void *argument)
    void end_thread(Thread *thread)
    # Wait until a started thread has ended.
    void join_thread(Thread *thread)
    # Free the resources of a thread that was joined or never started.
    void free_thread(Thread *thread)
