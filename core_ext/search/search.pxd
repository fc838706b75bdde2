"""The search of a root position to a depth, by one thread."""

from core_ext.search.searcher cimport Searcher

# Search the root moves from index `first` on, within the window, and sort them, best first. The value is void if
# s.stopped is set afterwards.
cdef int search_iteration(Searcher *s, int depth, int alpha, int beta, int first) noexcept nogil
