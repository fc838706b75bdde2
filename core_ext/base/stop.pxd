"""Stop flag and deadline of a search. The search itself checks the clock at intervals."""

from libc.stdint cimport uint64_t

cdef extern from "base/stop.h" nogil:
    # Return nanoseconds since an unspecified moment; never decreases.
    long long monotonic_ns()
    # All threads of a search share one. All zero: not requested, no deadline. Any thread may call these at any time.
    ctypedef struct Stop:
        pass
    bint stop_requested(const Stop *stop)
    bint past_deadline(const Stop *stop)
    void request_stop(Stop *stop)
    void set_deadline(Stop *stop, long long deadline)   # in monotonic_ns; 0: none
    void clear_stop(Stop *stop)

cdef enum:
    CHECK_INTERVAL = 256      # nodes between two checks of the clock: less than a millisecond


cdef inline uint64_t next_check(uint64_t nodes, uint64_t node_limit) noexcept nogil:
    """Return the node count at which to check the clock next; a limit of 0 means none."""
    cdef uint64_t next = nodes + CHECK_INTERVAL
    return node_limit if node_limit and node_limit < next else next
