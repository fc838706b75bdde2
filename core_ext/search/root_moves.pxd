"""The list of root moves: results, order, look-up."""

from libc.string cimport memcpy

from core_ext.search.stack cimport Node, RootMove, Searcher
from core_ext.search.tt cimport BOUND_EXACT, BOUND_LOWER, BOUND_UPPER
from core_ext.shogi.types cimport INFINITE, Move


cdef inline void update_root_move(Searcher *s, Node *node, RootMove *root, int value) noexcept nogil:
    """The result of a root move. Of a later move that does not beat alpha only a bound is proved: no value."""
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
    """Best first; moves of unknown value (-INFINITE) keep their order."""
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
    """NULL where the move is not to be searched."""
    cdef int i
    for i in range(first, s.root_count):
        if s.roots[i].move == move:
            return s.roots + i
    return NULL
