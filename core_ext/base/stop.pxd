"""How the outside ends a search: a flag, and a deadline that the search itself looks up at intervals."""

from libc.stdint cimport uint64_t

cdef extern from "base/monotonic.h" nogil:
    # Nanoseconds since some moment; never less than before.
    long long monotonic_ns()

cdef extern from "base/stop.h" nogil:
    # One for all threads of a search; all zero: not requested, no deadline. Any thread may call these at any time.
    ctypedef struct Stop:
        pass
    bint stop_requested(const Stop *stop)
    bint past_deadline(const Stop *stop)
    void request_stop(Stop *stop)
    void set_deadline(Stop *stop, long long deadline)   # as monotonic_ns counts; 0: none
    void clear_stop(Stop *stop)

cdef enum:
    CHECK_INTERVAL = 256      # nodes between two checks of the clock: less than a millisecond


cdef inline uint64_t next_check(uint64_t nodes, uint64_t node_limit) noexcept nogil:
    """The node count at which the clock is checked next; a limit of 0 is none."""
    cdef uint64_t next = nodes + CHECK_INTERVAL
    return node_limit if node_limit and node_limit < next else next
