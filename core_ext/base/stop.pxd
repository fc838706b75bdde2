"""How the outside ends a search: a flag, and a deadline that the search itself looks up now and then."""

from libc.stdint cimport uint64_t

cdef extern from "base/monotonic.h" nogil:
    # Nanoseconds since some moment; never less than before.
    long long monotonic_ns()

cdef enum:
    CHECK_INTERVAL = 256      # nodes from one look at the clock to the next: less than a millisecond

# One for all threads of a search. Each field is a word of its own, and nothing hangs on both being seen together.
cdef struct Stop:
    int requested
    long long deadline      # as monotonic_ns counts; 0: none


cdef inline uint64_t next_check(uint64_t nodes, uint64_t node_limit) noexcept nogil:
    """The node count from which the clock is to be looked at again; 0 is no limit."""
    cdef uint64_t next = nodes + CHECK_INTERVAL
    return node_limit if node_limit and node_limit < next else next


cdef inline bint past_deadline(const Stop *stop) noexcept nogil:
    return stop.deadline != 0 and monotonic_ns() >= stop.deadline
