"""The list of root moves: results, order, look-up."""

from libc.string cimport memcpy

from core_ext.search.searcher cimport Node, RootMove, Searcher
from core_ext.search.tt cimport BOUND_EXACT, BOUND_LOWER, BOUND_UPPER
from core_ext.shogi.types cimport INFINITE, Move


cdef inline void update_root_move(Searcher *s, Node *node, RootMove *root, int value) noexcept nogil:
    """Store the result of a root move. A later move that does not beat alpha has only a bound: no value."""
    if node.move_count > 1 and value <= node.alpha:
        root.value = -INFINITE
        return
    root.value = value
    root.bound = BOUND_UPPER if value <= node.alpha else BOUND_LOWER if value >= node.beta else BOUND_EXACT
    root.seldepth = s.seldepth
    root.pv[0] = root.move
    memcpy(root.pv + 1, (node.ss + 1).pv, (node.ss + 1).pv_length * sizeof(Move))
    root.pv_length = (node.ss + 1).pv_length + 1


cdef inline void sort_root_moves(Searcher *s, int first) noexcept nogil:
    """Sort by value, best first. The sort is stable: moves without a value (-INFINITE) keep their order."""
    cdef int i, j
    cdef RootMove moving
    for i in range(first + 1, s.root_count):
        if s.roots[i].value <= s.roots[i - 1].value:
            continue
        moving = s.roots[i]
        j = i
        while j > first and s.roots[j - 1].value < moving.value:
            s.roots[j] = s.roots[j - 1]
            j -= 1
        s.roots[j] = moving


cdef inline RootMove *find_root_move(Searcher *s, int first, Move move) noexcept nogil:
    """Return NULL if the move is not in the list from `first` on."""
    cdef int i
    for i in range(first, s.root_count):
        if s.roots[i].move == move:
            return s.roots + i
    return NULL
