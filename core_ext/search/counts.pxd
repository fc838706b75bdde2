"""Counts of the nodes that a move cut, for bench.strength.ordering. Kept in the count profile alone, by one thread."""

from core_ext.search.stack cimport Node
from core_ext.shogi.types cimport NO_MOVE, uint64_t

cdef extern from "search/counts.h" nogil:
    enum:
        COUNTING

cdef enum:
    COUNTED_DEPTHS = 32     # 0: quiescence; the last: that depth and more
    COUNTED_STAGES = 16     # more than the picker has

# Nodes cut by a move of one stage.
cdef struct Cuts:
    uint64_t nodes
    uint64_t first          # by the first move
    uint64_t moves          # tried, the cutting one included
    uint64_t with_hash      # the node had a hash move

cdef Cuts cuts[COUNTED_DEPTHS][COUNTED_STAGES]


cdef inline void count_cut(const Node *node, int depth, int stage) noexcept nogil:
    """A node cut by its latest move, which the picker yielded in this stage. No singular searches: they have no hash
    move."""
    cdef Cuts *entry
    if not COUNTING or node.ss.excluded:
        return
    entry = &cuts[depth if depth < COUNTED_DEPTHS else COUNTED_DEPTHS - 1][stage]
    entry.nodes += 1
    entry.first += node.move_count == 1
    entry.moves += node.move_count
    entry.with_hash += node.tt.move != NO_MOVE
