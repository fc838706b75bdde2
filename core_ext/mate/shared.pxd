"""State that the threads of one search share beside the table: counters, and the number of threads inside each node.

A thread is inside the nodes of its line: it searches the node or one below.
"""

from core_ext.base.atomic cimport SharedWord, count_in_word, load_word
from core_ext.shogi.types cimport Hand, uint64_t

cdef enum:
    INSIDE_SLOTS = 1 << 15
    MAX_HELPERS = 511       # as many as the option Threads allows

cdef struct SharedSearch:
    void *helpers[MAX_HELPERS]  # memory of each helper ever started, a Helper of mate.team
    SharedWord wanted       # number of threads; any thread may set it
    SharedWord finished     # one thread has solved the root or reached a limit: all stop
    SharedWord settled      # number of nodes that a thread has solved while others were inside
    SharedWord nodes        # moves made by helpers, added every CHECK_INTERVAL nodes
    SharedWord inside[INSIDE_SLOTS]  # threads inside a node, by a hash; nodes with the same hash are counted together


cdef inline SharedWord *inside_slot(SharedSearch *shared, uint64_t key, Hand hand) noexcept nogil:
    return shared.inside + ((key ^ hand * <uint64_t>0x9E3779B97F4A7C15) >> 32 & (INSIDE_SLOTS - 1))


cdef inline void enter_node(SharedSearch *shared, uint64_t key, Hand hand) noexcept nogil:
    count_in_word(inside_slot(shared, key, hand), 1)


cdef inline void leave_node(SharedSearch *shared, uint64_t key, Hand hand) noexcept nogil:
    count_in_word(inside_slot(shared, key, hand), <uint64_t>-1)


cdef inline uint64_t threads_inside(SharedSearch *shared, uint64_t key, Hand hand) noexcept nogil:
    return load_word(inside_slot(shared, key, hand))
