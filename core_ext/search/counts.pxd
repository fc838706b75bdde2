"""Cutoff counts by depth and picker stage, for bench.strength.ordering. Count profile and one thread only."""

from core_ext.search.searcher cimport Node
from core_ext.shogi.types cimport NO_MOVE, uint64_t

cdef extern from *:
    """
    #ifdef CORE_EXT_COUNT       /* the count profile */
    enum { COUNTING = 1 };
    #else
    enum { COUNTING = 0 };      /* the compiler removes the counting */
    #endif
    """
    enum:
        COUNTING

cdef enum:
    COUNTED_DEPTHS = 32     # 0: quiescence; the last also counts all deeper nodes
    COUNTED_STAGES = 16     # more than the picker has

# Nodes that a move of one stage cut.
cdef struct Cuts:
    uint64_t nodes
    uint64_t first          # cut by the first move
    uint64_t moves          # moves tried, including the one that cut
    uint64_t with_hash      # nodes with a hash move

cdef Cuts cuts[COUNTED_DEPTHS][COUNTED_STAGES]


cdef inline void count_cut(const Node *node, int depth, int stage) noexcept nogil:
    """Count a cutoff by the node's latest move. Singular searches do not count: they have no hash move."""
    cdef Cuts *entry
    if not COUNTING or node.ss.excluded:
        return
    entry = &cuts[depth if depth < COUNTED_DEPTHS else COUNTED_DEPTHS - 1][stage]
    entry.nodes += 1
    entry.first += node.move_count == 1
    entry.moves += node.move_count
    entry.with_hash += node.tt.move != NO_MOVE
