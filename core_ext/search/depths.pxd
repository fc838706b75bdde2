"""How deep a move is searched: by how much the hash move is extended and a late move is reduced.

Conditions and amounts of the two rules; the searches that they ask for are in search.pyx. The constants are in tune.h.
"""

from core_ext.search.node cimport butterfly, capture_history, continuation
from core_ext.search.stack cimport Candidate, Node, Searcher, clamp
from core_ext.search.tt cimport BOUND_LOWER
from core_ext.search.tune cimport tune
from core_ext.shogi.see cimport see_value
from core_ext.shogi.types cimport Move, NO_MOVE, captured_piece, is_decisive, type_of

# ---- singular extension and multi-cut (Y. Björnsson) ----

cdef inline bint may_be_singular(const Searcher *s, const Node *node, Move move) noexcept nogil:
    """The hash move, where the table has a lower bound from a search nearly as deep as this one."""
    return (move == node.tt.move and not node.ss.excluded and node.depth >= tune.singular_depth + node.ss.on_pv
            and node.ply < 2 * s.root_depth and not is_decisive(node.tt_value) and (node.tt.bound & BOUND_LOWER)
            and node.tt.depth >= node.depth - tune.singular_hash_depth)


cdef inline int singular_beta(const Node *node) noexcept nogil:
    return (node.tt_value
            - (tune.singular_margin + tune.singular_margin_pv * (node.ss.on_pv and not node.pv)) * node.depth // 55)


cdef inline bint multi_cut(const Node *node, int shortfall, int alternative) noexcept nogil:
    """Even another move reaches beta."""
    return shortfall <= 0 and alternative >= node.beta and not is_decisive(alternative)


cdef inline int by_margins(const Searcher *s, const Node *node, int shortfall) noexcept nogil:
    """One, two or three plies for the only good move, by how far the others fall short of it: more readily where the
    evaluation errs, and where hash moves have lately been right."""
    cdef bint quiet = not node.tt_capture, late = node.ply > s.root_depth
    cdef int trust = tune.singular_hash_move * s.histories.hash_move // 131072
    shortfall += tune.singular_error * node.error // 1024
    return (1 + (shortfall + trust > tune.double_margin + tune.double_pv * node.pv - tune.double_quiet * quiet
                 - tune.double_late * late)
            + (shortfall > tune.triple_margin + tune.triple_pv * node.pv - tune.triple_quiet * quiet
               + tune.triple_on_pv * node.ss.on_pv - tune.triple_late * late))


cdef inline int singular_extension(const Searcher *s, const Node *node, int shortfall) noexcept nogil:
    """Plies for the hash move: more where it is the only good move, fewer where a cut is likely anyway."""
    if shortfall > 0:
        return by_margins(s, node, shortfall)
    if node.tt_value >= node.beta:
        return -3
    return -2 if node.cut else 0


# ---- late move reduction: amounts in 1/1024 ply ----

cdef inline bint may_reduce(const Node *node) noexcept nogil:
    return node.depth >= tune.lmr_min_depth and node.move_count > 1


cdef inline int base_reduction(const Searcher *s, const Node *node) noexcept nogil:
    """Before anything is known of the move: by the logarithms of depth and move number; less in a wide window. On a
    principal variation more, for pruning; pv_line_reduction takes it back where the move is searched."""
    cdef int product = s.reductions[clamp(node.depth, 0, 255)] * s.reductions[clamp(node.move_count, 0, 255)]
    return (product + tune.lmr_base + (0 if node.improving else product * tune.lmr_not_improving // 1024)
            - (node.beta - node.alpha) * tune.lmr_window // s.root_window + tune.lmr_on_pv * node.ss.on_pv)


cdef inline int pv_line_reduction(const Node *node) noexcept nogil:
    """Less where the node is or was on a principal variation, or where a singular search has just said so."""
    if not node.ss.on_pv:
        return 0
    return (-tune.lmr_pv_line - tune.lmr_pv * node.pv - tune.lmr_pv_value * (node.tt_value > node.alpha)
            - (tune.lmr_pv_depth + tune.lmr_pv_depth_cut * node.cut) * (node.tt.depth >= node.depth))


cdef inline int cut_reduction(const Node *node) noexcept nogil:
    """More where a cut is expected, by this node or by those below it."""
    cdef int cutoffs = (node.ss + 1).cutoffs
    cdef int amount = (tune.lmr_cut + tune.lmr_cut_no_hash * (node.tt.move == NO_MOVE)) * node.cut
    if cutoffs > 1:
        amount += tune.lmr_cutoffs + tune.lmr_more_cutoffs * (cutoffs > 2) + tune.lmr_all_cutoffs * node.all
    return amount


cdef inline int move_history(Searcher *s, const Node *node, const Candidate *candidate) noexcept nogil:
    if not candidate.quiet:
        return (tune.lmr_captured * see_value(type_of(captured_piece(candidate.move32))) // 128
                + capture_history(s, candidate.move32))
    return 2 * butterfly(s, candidate.move) + continuation(node.ss, candidate.move32)


cdef inline int reduction(const Searcher *s, const Node *node, const Candidate *candidate) noexcept nogil:
    """More in a cut node and after many cuts below, less on the principal variation, for moves of good history, and
    where the evaluation errs."""
    cdef int amount = candidate.reduction + pv_line_reduction(node) + cut_reduction(node)
    amount += tune.lmr_offset - tune.lmr_move * node.move_count - tune.lmr_error * node.error // 1024
    if node.tt_capture:
        amount += tune.lmr_hash_capture
    if candidate.move == node.tt.move:
        amount -= tune.lmr_hash_move
    amount -= node.ss.history * tune.lmr_history // 4096
    if node.all:
        amount += amount * tune.lmr_all // (256 * node.depth + 260)
    return amount


cdef inline int full_depth(const Node *node, int reduced_value, int reduced, int depth) noexcept nogil:
    """Depth of the second search: a ply more or less by how far the reduced search beat the best move so far."""
    depth += reduced < depth and reduced_value > node.best_value + tune.deeper_margin
    return depth - (reduced_value < node.best_value + tune.shallower_margin)
