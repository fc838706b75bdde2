"""Selective rules that need no search of their own, each with its condition, its amounts and its reason in one place.

The rules that search (null move, ProbCut, singular extension, late move reduction) stand in the same form in
search.pyx. The constants are in tune.h, by rule. Most ideas are common to modern alpha-beta engines; the source named
is the one whose form was followed, the numbers are ours.
"""

from core_ext.search.movepick cimport is_quiet
from core_ext.search.stack cimport Candidate, Node, Searcher, clamp
from core_ext.search.tt cimport BOUND_LOWER, BOUND_UPPER
from core_ext.search.tune cimport tune
from core_ext.shogi.movegen cimport gives_check
from core_ext.shogi.see cimport see_at_least, see_value
from core_ext.shogi.types cimport (
    INFINITE, MATE_BOUND, MAX_MOVES, Move, captured_piece, is_promotion, to_square, type_of,
)


# ---- table cutoff ----

cdef inline bint tt_cuts(const Node *node) noexcept nogil:
    """An earlier search of at least this depth has a bound outside the window."""
    if node.pv or not node.tt.hit or node.tt.depth < node.depth or node.ss.excluded:
        return False
    if node.tt_value >= node.beta:
        return (node.tt.bound & BOUND_LOWER) != 0
    return (node.tt.bound & BOUND_UPPER) != 0


cdef inline bint may_prune_node(const Node *node) noexcept nogil:
    """Common to reverse futility, null move, internal iterative reduction and ProbCut: they need a static value, and do
    not apply where the table's move is excluded (a singular search)."""
    return not node.in_check and not node.ss.excluded


# ---- reverse futility pruning: the node fails high ----


cdef inline bint reverse_futility(const Node *node) noexcept nogil:
    """So far above beta that the opponent is not expected to catch up in the plies left."""
    return (may_prune_node(node) and not node.ss.on_pv and node.depth < tune.reverse_futility_depth
            and node.value < MATE_BOUND and node.beta > -MATE_BOUND
            and node.value - tune.reverse_futility_slope * (node.depth - node.improving) >= node.beta)


cdef inline int reverse_futility_value(const Node *node) noexcept nogil:
    return (tune.reverse_futility_share * node.value + (100 - tune.reverse_futility_share) * node.beta) // 100


# ---- internal iterative reduction: the node is searched one ply less deep ----

cdef inline int iir_reduction(const Node *node) noexcept nogil:
    """Without a hash move a shallower search is cheaper, and stores a move for the next time (E. Schröder)."""
    return (may_prune_node(node) and not node.tt.move and node.depth >= tune.iir_depth
            and (node.pv or node.cut))


# ---- moves left out of the main search ----

cdef inline bint may_prune_moves(const Node *node) noexcept nogil:
    """Off the principal variation, once a move is found that does not get mated."""
    return not node.pv and node.best_value > -MATE_BOUND


cdef inline int late_move_limit(const Node *node) noexcept nogil:
    """Late move pruning: after so many moves of a shallow node, no further quiet move is searched."""
    if node.depth >= tune.lmp_depth:
        return MAX_MOVES
    return (tune.lmp_base + tune.lmp_slope * node.depth * node.depth // 64) // (1 if node.improving else 2)


cdef inline bint prunes_quiet(Searcher *s, const Node *node, const Candidate *candidate, int lmr_depth) noexcept nogil:
    """Bad history, a static value too low for a quiet move to reach alpha (futility), or material lost."""
    cdef int depth = clamp(lmr_depth + tune.history_depth * candidate.history // (128 * 1024), 0, node.depth)
    if candidate.history < -tune.history_prune * node.depth:
        return True
    if not node.in_check and depth < tune.futility_depth \
            and node.ss.static_value + tune.futility_base + tune.futility_slope * depth <= node.alpha:
        return True
    return not see_at_least(&s.pos, candidate.move, -tune.quiet_see_slope * depth * depth)


cdef inline bint prunes_capture(Searcher *s, const Node *node, const Candidate *candidate,
                                int lmr_depth) noexcept nogil:
    """A capture that cannot reach alpha even with what it takes (futility), or a capture or check that loses too much
    material."""
    cdef int depth = clamp(lmr_depth, 0, node.depth), gain = see_value(type_of(captured_piece(candidate.move32)))
    if not candidate.checks and not node.in_check and depth < tune.capture_futility_depth \
            and (node.ss.static_value + tune.capture_futility_base + tune.capture_futility_slope * depth + gain
                 <= node.alpha):
        return True
    return not see_at_least(&s.pos, candidate.move, -tune.capture_see_slope * node.depth)


cdef inline bint prunes_move(Searcher *s, const Node *node, const Candidate *candidate, int lmr_depth) noexcept nogil:
    """`lmr_depth`: the node's depth less the reduction of a move so late in the list."""
    if not candidate.quiet or candidate.checks:
        return prunes_capture(s, node, candidate, lmr_depth)
    return prunes_quiet(s, node, candidate, lmr_depth)


# ---- moves left out of quiescence ----

cdef inline bint prunes_evasion(Searcher *s, const Node *node, Move move) noexcept nogil:
    """In check: a late quiet move that loses material, once a move is found that does not get mated."""
    return (node.best_value > -MATE_BOUND and node.move_count > tune.quiescence_evasions and is_quiet(&s.pos, move)
            and not see_at_least(&s.pos, move, 0))


cdef inline int quiescence_futility_value(Searcher *s, const Node *node, Move move) noexcept nogil:
    """The most that a capture is expected to raise the value to; INFINITE for promotions and checks."""
    if is_promotion(move) or gives_check(&s.pos, &node.check_info, move):
        return INFINITE
    return node.ss.static_value + tune.quiescence_futility + see_value(type_of(s.pos.board[to_square(move)]))


cdef inline bint prunes_late_capture(const Node *node, Move move, int futility) noexcept nogil:
    """All captures but the first few, unless they recapture, promote or give check."""
    return (futility < INFINITE and node.move_count > tune.quiescence_moves
            and to_square(move) != to_square(<Move>(node.ss - 1).move))


cdef inline bint loses_material(Searcher *s, Move move) noexcept nogil:
    return not see_at_least(&s.pos, move, -tune.quiescence_see)


cdef inline bint prune_in_quiescence(Searcher *s, Node *node, Move move) noexcept nogil:
    """Leave the move out (True) or not. A futile capture left out raises the best value to its futility value: the node
    fails soft.
    """
    cdef int futility
    if node.in_check:
        return prunes_evasion(s, node, move)
    futility = quiescence_futility_value(s, node, move)
    if prunes_late_capture(node, move, futility):
        return True
    if futility <= node.alpha:
        if futility > node.best_value:
            node.best_value = futility
        return True
    return loses_material(s, move)
