"""Search depth of a move: amounts of late move reduction and of the smaller rules that change its depth.

search_move and search_reduced in search.pyx run the searches. Constants are in tune.h. Forms and values follow
YaneuraOu 9.70 and, through it, Stockfish.
"""

from core_ext.base.arithmetic cimport clamp
from core_ext.search.history cimport butterfly_value, capture_value, continuation_value
from core_ext.search.searcher cimport Candidate, Node, REDUCTIONS, Searcher
from core_ext.search.tune cimport tune
from core_ext.shogi.see cimport see_value
from core_ext.shogi.types cimport NO_MOVE, captured_piece, is_decisive, type_of

cdef enum:
    FEW_CUTOFFS = 1             # of the children: more increase the reduction
    MANY_CUTOFFS = 2            # more increase it further
    ALL_SLOPE = 256             # divisor of lmr_all: per ply of depth
    ALL_OFFSET = 260
    BUTTERFLY_WEIGHT = 2        # in the history score of a quiet move; continuation histories have 1
    TWO_PLIES_DEPTH = 2         # a search outside LMR loses a second ply only above this depth
    AFTER_ALPHA_LEAST = 2       # reduce_after_alpha only above this depth

# ---- late move reduction: amounts in 1/1024 ply ----

cdef inline bint may_reduce(const Node *node) noexcept nogil:
    return node.depth >= tune.lmr_min_depth and node.move_count > 1


cdef inline int base_reduction(const Searcher *s, const Node *node) noexcept nogil:
    """Return the reduction by depth and move number, for pruning: logarithmic in both, less in a wide window.

    It is greater if the node is or was on the PV; pv_reduction takes that back if the move is searched.
    """
    cdef int product = (s.reductions[clamp(node.depth, 0, REDUCTIONS - 1)]
                        * s.reductions[clamp(node.move_count, 0, REDUCTIONS - 1)])
    return (product + tune.lmr_base + (0 if node.improving else product * tune.lmr_not_improving // 1024)
            - (node.beta - node.alpha) * tune.lmr_window // s.root_window + tune.lmr_on_pv * node.ss.on_pv)


cdef inline int pv_reduction(const Node *node) noexcept nogil:
    """Reduce less if the node is or was on the PV, most of all if the TT entry confirms it.

    Without a TT value, NO_VALUE counts as one above alpha (Stockfish).
    """
    if not node.ss.on_pv:
        return 0
    return (-tune.lmr_pv_line - tune.lmr_pv * node.pv - tune.lmr_pv_value * (node.tt_value > node.alpha)
            - (tune.lmr_pv_depth + tune.lmr_pv_depth_cut * node.cut) * (node.tt.depth >= node.depth))


cdef inline int cut_reduction(const Node *node) noexcept nogil:
    """Reduce more in a cut node, and if the children fail high often."""
    cdef int cutoffs = (node.ss + 1).cutoffs
    cdef int amount = (tune.lmr_cut + tune.lmr_cut_no_hash * (node.tt.move == NO_MOVE)) * node.cut
    if cutoffs > FEW_CUTOFFS:
        amount += tune.lmr_cutoffs + tune.lmr_more_cutoffs * (cutoffs > MANY_CUTOFFS) + tune.lmr_all_cutoffs * node.all
    return amount


cdef inline int move_history(Searcher *s, const Node *node, const Candidate *candidate) noexcept nogil:
    if not candidate.quiet:
        return (tune.lmr_captured * see_value(type_of(captured_piece(candidate.move32))) // 128
                + capture_value(s.histories, candidate.move32))
    return (BUTTERFLY_WEIGHT * butterfly_value(s.histories, s.pos.side, candidate.move)
            + continuation_value((node.ss - 1).continuation, candidate.move32)
            + continuation_value((node.ss - 2).continuation, candidate.move32))


cdef inline int reduction(const Node *node, const Candidate *candidate) noexcept nogil:
    """Return the whole reduction; less for moves with a good history and if the static value is unreliable."""
    cdef int amount = candidate.reduction + pv_reduction(node) + cut_reduction(node)
    amount += tune.lmr_offset - tune.lmr_move * node.move_count - tune.lmr_error * node.error // 1024
    if node.tt_capture:
        amount += tune.lmr_hash_capture
    if candidate.move == node.tt.move:
        amount -= tune.lmr_hash_move
    amount -= node.ss.history * tune.lmr_history // 4096
    if node.all:
        amount += amount * tune.lmr_all // (ALL_SLOPE * node.depth + ALL_OFFSET)
    return amount


cdef inline int reduced_depth(const Node *node, int amount, int depth) noexcept nogil:
    """Return the depth of the reduced search: at least 1, at most depth + 2; one more in a PV node."""
    return clamp(depth - amount // 1024, 1, depth + 2 if depth > 0 else 1) + node.pv


cdef inline int full_depth(const Node *node, int reduced_value, int reduced, int depth) noexcept nogil:
    """Return the depth of the second search: a ply more or less by how far the reduced search beat the best value."""
    depth += reduced < depth and reduced_value > node.best_value + tune.deeper_margin
    return depth - (reduced_value < node.best_value + tune.shallower_margin)


# ---- depth without late move reduction ----

cdef inline int unreduced_depth(const Node *node, int amount, int depth) noexcept nogil:
    """Return the depth of a zero-window search outside LMR: up to two plies less if the reduction would be large."""
    amount += tune.unreduced_no_hash * (node.tt.move == NO_MOVE)
    return depth - (amount > tune.unreduced_one_ply) - (amount > tune.unreduced_two_plies and depth > TWO_PLIES_DEPTH)


cdef inline int pv_depth(const Node *node, const Candidate *candidate, int depth) noexcept nogil:
    """Return the depth of an open-window search: at least 1 for a hash move with some depth in the TT, so that it does
    not drop into quiescence (Stockfish)."""
    if candidate.move == node.tt.move and node.tt.depth > (0 if is_decisive(node.tt_value) else 1) and depth < 1:
        return 1
    return depth


cdef inline void reduce_after_alpha(Node *node, int value) noexcept nogil:
    """Search the remaining moves less deep once a move has raised alpha: few of them raise it again (Stockfish)."""
    if AFTER_ALPHA_LEAST < node.depth < tune.after_alpha_depth and not is_decisive(value):
        node.depth -= tune.after_alpha
