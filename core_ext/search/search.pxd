"""One thread's search of a root to a depth."""

from core_ext.search.stack cimport Searcher

# Everything but the evaluator, the table and the stop.
cdef int allocate_searcher(Searcher *s, bint lazy) except -1
cdef void free_searcher(Searcher *s) noexcept nogil
# For the samples of the searches to come; `every` and `room` as in stack.pxd.
cdef int allocate_samples(Searcher *s, int every, int room) except -1
# For a new game: clears the histories.
cdef void clear_searcher(Searcher *s) noexcept nogil
# What is kept from one search of the root to the next begins anew.
cdef void new_root(Searcher *s) noexcept nogil
# Search the root moves from the `first`-best on in the window to the depth; they are sorted afterwards, best first.
# The value is void where s.stopped is true afterwards.
cdef int search_root(Searcher *s, int depth, int alpha, int beta, int first) noexcept nogil
