"""Selective rules that need no search of their own, each with its condition, its amounts and its reason in one place.

The rules that search (null move, ProbCut, singular extension, late move reduction) stand in search.pyx, and how deep
the last two let a move be searched in depths.pxd. The constants are in tune.h, by rule. Forms and numbers follow
YaneuraOu 9.70, which has them from Stockfish: they were tuned together and were taken over together
(docs/findings.md).
"""

from core_ext.search.history cimport pawn_history_value
from core_ext.search.movepick cimport is_quiet32
from core_ext.search.node cimport butterfly, capture_history, continuation
from core_ext.search.stack cimport Candidate, Node, Searcher
from core_ext.search.tt cimport BOUND_LOWER, BOUND_UPPER
from core_ext.search.tune cimport tune
from core_ext.shogi.movegen cimport gives_check
from core_ext.shogi.position cimport to_move32
from core_ext.shogi.see cimport capture_gain, see_at_least, see_value
from core_ext.shogi.types cimport (
    Move, Move32, NO_MOVE, NULL_MOVE, captured_piece, is_decisive, is_loss, is_win, to_square, type_of,
)

# ---- table cutoff ----

cdef inline bint bound_cuts(const Node *node) noexcept nogil:
    """The table's value is a bound outside the window."""
    return (node.tt.bound & (BOUND_LOWER if node.tt_value >= node.beta else BOUND_UPPER)) != 0


cdef inline bint tt_cuts(const Node *node) noexcept nogil:
    """A search of at least this depth, of a greater one where its value is above beta, has a bound outside the window.
    A node of depth 5 and less is cut only where it was expected to fail to that side."""
    if node.pv or node.ss.excluded or node.tt.depth <= node.depth - (node.tt_value <= node.beta):
        return False
    return bound_cuts(node) and (node.depth > 5 or node.cut == (node.tt_value >= node.beta))


cdef inline bint quiescence_cuts(const Node *node) noexcept nogil:
    return not node.pv and node.tt.depth >= 0 and bound_cuts(node)


# ---- hindsight: depth by what the last move's reduction missed ----

cdef inline int hindsight(const Node *node) noexcept nogil:
    """A ply more where a move was reduced much and did not make things worse for its side; a ply less where it was
    reduced and the two static values agree that it lost."""
    cdef int plies = node.prior_reduction >= tune.hindsight_deeper and not node.opponent_worsening
    if (node.prior_reduction >= tune.hindsight_shallower and node.depth + plies >= 2
            and node.ss.static_value + (node.ss - 1).static_value > tune.hindsight_margin):
        plies -= 1
    return plies


# ---- razoring: the node fails low ----

cdef inline bint razors(const Node *node) noexcept nogil:
    """So far below alpha that only captures can help: quiescence decides."""
    return not node.pv and node.value < node.alpha - tune.razor_base - tune.razor_slope * node.depth * node.depth


# ---- reverse futility pruning: the node fails high ----

cdef inline int reverse_futility_margin(const Node *node) noexcept nogil:
    cdef int slope = tune.reverse_futility_slope - tune.reverse_futility_new * (not node.tt.hit)
    cdef int less = (tune.reverse_futility_improving * node.improving
                     + tune.reverse_futility_worsening * node.opponent_worsening)
    return slope * node.depth - less * slope // 1024 + tune.reverse_futility_error * node.error // 1024


cdef inline bint reverse_futility(const Node *node) noexcept nogil:
    """So far above beta that the opponent is not expected to catch up in the plies left."""
    return (not node.ss.on_pv and node.depth < tune.reverse_futility_depth and node.value >= node.beta
            and node.value - reverse_futility_margin(node) >= node.beta
            and (node.tt.move == NO_MOVE or node.tt_capture) and not is_win(node.value) and not is_loss(node.beta))


cdef inline int reverse_futility_value(const Node *node) noexcept nogil:
    return (tune.reverse_futility_share * node.value + (100 - tune.reverse_futility_share) * node.beta) // 100


# ---- internal iterative reduction: the node is searched one ply less deep ----

cdef inline int iir_reduction(const Node *node) noexcept nogil:
    """Without a hash move a shallower search is cheaper, and stores a move for the next time (E. Schröder)."""
    return (not node.tt.move and node.depth >= tune.iir_depth and not node.all and not node.ss.follows_pv
            and node.prior_reduction <= tune.iir_prior_reduction)


# ---- small ProbCut: the table's value beats beta by a margin ----

cdef inline bint small_probcut(const Node *node) noexcept nogil:
    """A lower bound far above beta from a search nearly as deep, at low depths also from quiescence: the full search
    most likely reaches beta, too."""
    return ((node.tt.bound & BOUND_LOWER) and node.tt.depth >= node.depth - tune.small_probcut_depth
            and node.tt_value >= node.beta + tune.small_probcut_margin
            and not is_decisive(node.beta) and not is_decisive(node.tt_value))


# ---- moves left out of the main search ----

cdef inline bint may_prune_moves(const Node *node) noexcept nogil:
    """Once a move is found that does not get mated."""
    return not is_loss(node.best_value)


cdef inline int late_move_limit(const Node *node) noexcept nogil:
    """Late move pruning: after so many moves, the more the deeper the node, no further quiet move is searched."""
    return (tune.lmp_base + node.depth * node.depth) // (1 if node.improving else 2)


cdef inline int futility_value(const Node *node, int depth) noexcept nogil:
    """The most that a quiet move is expected to reach in so many plies."""
    return (node.ss.static_value + tune.futility_base + tune.futility_no_best * (node.best_move == NO_MOVE)
            + tune.futility_slope * depth + tune.futility_above * (node.ss.static_value > node.alpha))


cdef inline bint is_futile(Node *node, int depth) noexcept nogil:
    """The static value is too low for a quiet move to reach alpha; the node fails soft."""
    cdef int value
    if node.in_check or depth >= tune.futility_depth:
        return False
    value = futility_value(node, depth)
    if value > node.alpha:
        return False
    if node.best_value <= value and not is_decisive(node.best_value) and not is_win(value):
        node.best_value = value
    return True


cdef inline bint prunes_quiet(Searcher *s, Node *node, const Candidate *candidate, int lmr_depth) noexcept nogil:
    """Bad history, futility, or material lost."""
    cdef int history = continuation(node.ss, candidate.move32)
    history += pawn_history_value(node.ss.pawn_history, candidate.move32)
    if history < -tune.history_prune * node.depth:
        return True
    history += tune.history_main * butterfly(s, candidate.move) // 32
    lmr_depth += history // tune.history_depth
    if is_futile(node, lmr_depth):
        return True
    lmr_depth = lmr_depth if lmr_depth > 0 else 0
    return not see_at_least(&s.pos, candidate.move, -tune.quiet_see_slope * lmr_depth * lmr_depth)


cdef inline bint prunes_capture(Searcher *s, const Node *node, const Candidate *candidate,
                                int lmr_depth) noexcept nogil:
    """A capture that cannot reach alpha even with what it takes (futility), or a capture or check that loses too much
    material."""
    cdef int history = capture_history(s, candidate.move32), margin
    if not candidate.checks and lmr_depth < tune.capture_futility_depth \
            and (node.ss.static_value + tune.capture_futility_base + tune.capture_futility_slope * lmr_depth
                 + see_value(type_of(captured_piece(candidate.move32)))
                 + tune.capture_futility_history * history // 1024 <= node.alpha):
        return True
    margin = tune.capture_see_slope * node.depth + tune.capture_see_history * history // 1024
    return node.alpha >= 0 and not see_at_least(&s.pos, candidate.move, -margin if margin > 0 else 0)


cdef inline bint prunes_move(Searcher *s, Node *node, const Candidate *candidate, int lmr_depth) noexcept nogil:
    """`lmr_depth`: the depth after the move less the reduction of a move so late in the list."""
    if not candidate.quiet or candidate.checks:
        return prunes_capture(s, node, candidate, lmr_depth)
    return not (node.pv and node.ss.follows_pv) and prunes_quiet(s, node, candidate, lmr_depth)


# ---- moves left out of quiescence ----

cdef inline bint raise_best(Node *node, int value) noexcept nogil:
    """A move is left out that may be worth so much: the node fails soft."""
    if value > node.best_value:
        node.best_value = value
    return True


cdef inline bint is_futile_capture(Searcher *s, Node *node, Move32 move32) noexcept nogil:
    """All captures but the first few, and those that cannot reach alpha with what they take."""
    cdef int base = node.ss.static_value + tune.quiescence_futility
    if node.move_count > tune.quiescence_moves:
        return True
    if base + capture_gain(move32) <= node.alpha:
        return raise_best(node, base + capture_gain(move32))
    if not see_at_least(&s.pos, <Move>move32, node.alpha - base):
        return raise_best(node, node.alpha if node.alpha < base else base)
    return False


cdef inline bint prune_in_quiescence(Searcher *s, Node *node, Move move) noexcept nogil:
    """Leave the move out (True) or not, once a move is found that does not get mated. Checks and recaptures are not
    futile; of the evasions that do not capture one is searched. A quiet hash move is left out as well, after it has
    counted as one of the first few and raised the value to what it may be worth."""
    cdef Move32 move32 = to_move32(&s.pos, move), last = (node.ss - 1).move
    if is_loss(node.best_value):
        return False
    if (not node.in_check and (last == NULL_MOVE or to_square(move) != to_square(last))
            and not gives_check(&node.check_info, move32) and is_futile_capture(s, node, move32)):
        return True
    return is_quiet32(move32) or not see_at_least(&s.pos, move, -tune.quiescence_see)
