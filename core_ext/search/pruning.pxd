"""Selective rules that need no search of their own: each has its condition, amount, action and reason in one place.

Null move, ProbCut and the singular extension search, so they are in search.pyx; the depths of late moves are in
depths.pxd. Constants are in tune.h, by rule. Forms and values follow YaneuraOu 9.70 and, through it, Stockfish; they
were tuned together and taken over together.
"""

from core_ext.search.history cimport butterfly_value, capture_value, continuation_value, pawn_history_value
from core_ext.search.movepick cimport Picker
from core_ext.search.searcher cimport Candidate, Node, Searcher
from core_ext.search.tt cimport BOUND_LOWER, BOUND_UPPER
from core_ext.search.tune cimport tune
from core_ext.shogi.movegen cimport gives_check
from core_ext.shogi.position cimport to_move32
from core_ext.shogi.see cimport capture_gain, see_at_least, see_value
from core_ext.shogi.types cimport *

# ---- TT cutoff ----

cdef enum:
    EXPECTED_CUT_DEPTH = 5      # up to this depth, the node must be expected to fail to the side of the TT value


cdef inline bint bound_cuts(const Node *node) noexcept nogil:
    """Return whether the TT value is a bound outside the window."""
    return (node.tt.bound & (BOUND_LOWER if node.tt_value >= node.beta else BOUND_UPPER)) != 0


cdef inline bint tt_cuts(const Node *node) noexcept nogil:
    """Cut if the TT entry is deep enough (one ply more for a value above beta) and its bound is outside the window."""
    if node.pv or node.ss.excluded or node.tt.depth <= node.depth - (node.tt_value <= node.beta):
        return False
    return bound_cuts(node) and (node.depth > EXPECTED_CUT_DEPTH or node.cut == (node.tt_value >= node.beta))


cdef inline bint quiescence_cuts(const Node *node) noexcept nogil:
    return not node.pv and node.tt.depth >= 0 and bound_cuts(node)


# ---- hindsight (Stockfish): correct the depth by what the parent's reduction missed ----

cdef enum:
    HINDSIGHT_DEPTH = 2         # least depth from which a ply is taken


cdef inline int hindsight(const Node *node) noexcept nogil:
    """Return the plies to add: one if a move was reduced much without making its side worse; one less if a move was
    reduced and both static values say that it loses."""
    cdef int plies = node.prior_reduction >= tune.hindsight_deeper and not node.opponent_worsening
    if (node.prior_reduction >= tune.hindsight_shallower and node.depth + plies >= HINDSIGHT_DEPTH
            and node.ss.static_value + (node.ss - 1).static_value > tune.hindsight_margin):
        plies -= 1
    return plies


# ---- razoring: the node fails low ----

cdef inline bint razors(const Node *node) noexcept nogil:
    """Leave it to quiescence if the value is so far below alpha that only captures can help."""
    return not node.pv and node.value < node.alpha - tune.razor_base - tune.razor_slope * node.depth * node.depth


# ---- reverse futility pruning: the node fails high ----

cdef inline int reverse_futility_margin(const Node *node) noexcept nogil:
    cdef int slope = tune.reverse_futility_slope - tune.reverse_futility_new * (not node.tt.hit)
    cdef int less = (tune.reverse_futility_improving * node.improving
                     + tune.reverse_futility_worsening * node.opponent_worsening)
    return slope * node.depth - less * slope // 1024 + tune.reverse_futility_error * node.error // 1024


cdef inline bint reverse_futility(const Node *node) noexcept nogil:
    """Cut if the value is so far above beta that the opponent will hardly catch up in the remaining plies."""
    return (not node.ss.on_pv and node.depth < tune.reverse_futility_depth and node.value >= node.beta
            and node.value - reverse_futility_margin(node) >= node.beta
            and (node.tt.move == NO_MOVE or node.tt_capture) and not is_win(node.value) and not is_loss(node.beta))


cdef inline int reverse_futility_value(const Node *node) noexcept nogil:
    return (tune.reverse_futility_share * node.value + (100 - tune.reverse_futility_share) * node.beta) // 100


# ---- internal iterative reduction (E. Schröder): the node is searched one ply less deep ----

cdef inline int iir_reduction(const Node *node) noexcept nogil:
    """Reduce by a ply without a hash move: a shallower search is cheaper and stores a move for the next visit."""
    return (not node.tt.move and node.depth >= tune.iir_depth and not node.all and not node.ss.follows_pv
            and node.prior_reduction <= tune.iir_prior_reduction)


# ---- small ProbCut (Stockfish): the TT value beats beta by a margin ----

cdef inline bint small_probcut(const Node *node) noexcept nogil:
    """Cut if a lower bound from a search nearly as deep (at low depths also from quiescence) is far above beta: the
    full search most likely reaches beta, too."""
    return ((node.tt.bound & BOUND_LOWER) and node.tt.depth >= node.depth - tune.small_probcut_depth
            and node.tt_value >= node.beta + tune.small_probcut_margin
            and not is_decisive(node.beta) and not is_decisive(node.tt_value))


cdef inline int small_probcut_value(const Node *node) noexcept nogil:
    return node.beta + tune.small_probcut_margin


# ---- pruning of moves in the main search (Stockfish) ----

cdef inline void prune_late_quiets(const Node *node, Picker *picker) noexcept nogil:
    """Late move pruning: skip the quiet moves after the first few; a deeper node searches more of them."""
    if node.move_count >= (tune.lmp_base + node.depth * node.depth) // (1 if node.improving else 2):
        picker.skip_quiets = True


cdef inline int futility_value(const Node *node, int depth) noexcept nogil:
    """Return the most that a quiet move is expected to reach with `depth` plies left."""
    return (node.ss.static_value + tune.futility_base + tune.futility_no_best * (node.best_move == NO_MOVE)
            + tune.futility_slope * depth + tune.futility_above * (node.ss.static_value > node.alpha))


cdef inline bint prune_by_futility(Node *node, int depth) noexcept nogil:
    """Futility pruning: prune a quiet move that cannot reach alpha; fail soft. Return whether it is pruned."""
    cdef int value
    if node.in_check or depth >= tune.futility_depth:
        return False
    value = futility_value(node, depth)
    if value > node.alpha:
        return False
    if node.best_value <= value and not is_decisive(node.best_value) and not is_win(value):
        node.best_value = value
    return True


cdef inline bint prune_quiet(Searcher *s, Node *node, const Candidate *candidate, int lmr_depth) noexcept nogil:
    """Prune a quiet move by bad history, by futility, or if it loses material (SEE). Return whether it is pruned."""
    cdef int history = continuation_value((node.ss - 1).continuation, candidate.move32)
    history += continuation_value((node.ss - 2).continuation, candidate.move32)
    history += pawn_history_value(node.ss.pawn_history, candidate.move32)
    if history < -tune.history_prune * node.depth:
        return True
    history += tune.history_main * butterfly_value(s.histories, s.pos.side, candidate.move) // 32
    lmr_depth += history // tune.history_depth
    if prune_by_futility(node, lmr_depth):
        return True
    lmr_depth = lmr_depth if lmr_depth > 0 else 0
    return not see_at_least(&s.pos, candidate.move, -tune.quiet_see_slope * lmr_depth * lmr_depth)


cdef inline bint is_hopeless(Searcher *s, const Node *node, const Candidate *candidate, int lmr_depth) noexcept nogil:
    """Return whether a capture cannot reach alpha even with the captured piece (futility), or a capture or check loses
    too much material (SEE)."""
    cdef int history = capture_value(s.histories, candidate.move32), margin
    if not candidate.checks and lmr_depth < tune.capture_futility_depth \
            and (node.ss.static_value + tune.capture_futility_base + tune.capture_futility_slope * lmr_depth
                 + see_value(type_of(captured_piece(candidate.move32)))
                 + tune.capture_futility_history * history // 1024 <= node.alpha):
        return True
    margin = tune.capture_see_slope * node.depth + tune.capture_see_history * history // 1024
    return node.alpha >= 0 and not see_at_least(&s.pos, candidate.move, -margin if margin > 0 else 0)


cdef inline bint prune_move(Searcher *s, Node *node, Picker *picker, const Candidate *candidate) noexcept nogil:
    """Prune the move or all later quiet moves, once one move avoids mate. Return whether the move is pruned."""
    cdef int lmr_depth = candidate.depth - candidate.reduction // 1024
    if is_loss(node.best_value):
        return False
    prune_late_quiets(node, picker)
    if not candidate.quiet or candidate.checks:
        return is_hopeless(s, node, candidate, lmr_depth)
    return not (node.pv and node.ss.follows_pv) and prune_quiet(s, node, candidate, lmr_depth)


# ---- pruning of moves in quiescence ----

cdef inline bint prune_futile_capture(Searcher *s, Node *node, Move32 move32) noexcept nogil:
    """Prune all captures after the first few, and those that cannot reach alpha with the material they win; the node
    fails soft. Return whether the capture is pruned."""
    cdef int base = node.ss.static_value + tune.quiescence_futility, value
    if node.move_count > tune.quiescence_moves:
        return True
    value = base + capture_gain(move32)
    if value > node.alpha:
        if see_at_least(&s.pos, <Move>move32, node.alpha - base):
            return False
        value = node.alpha if node.alpha < base else base
    if value > node.best_value:
        node.best_value = value
    return True


cdef inline bint prune_in_quiescence(Searcher *s, Node *node, Move move) noexcept nogil:
    """Prune the move, once one move avoids mate. Return whether it is pruned.

    Checks and recaptures are not futile. In check, quiet evasions are searched until one avoids mate. A quiet hash move
    is pruned as well, but it counts as one of the first moves and may raise the best value.
    """
    cdef Move32 move32 = to_move32(&s.pos, move), last = (node.ss - 1).move
    if is_loss(node.best_value):
        return False
    if (not node.in_check and (last == NULL_MOVE or to_square(move) != to_square(last))
            and not gives_check(&node.check_info, move32) and prune_futile_capture(s, node, move32)):
        return True
    return is_quiet32(move32) or not see_at_least(&s.pos, move, -tune.quiescence_see)


# ---- fail-high averaging (Stockfish): a shallow fail high is unreliable, so its value is moved towards beta ----

cdef inline void average_fail_high(Node *node) noexcept nogil:
    """Average with beta, which weighs as much as one ply of depth."""
    if node.best_value > node.beta and not is_decisive(node.best_value) and not is_decisive(node.alpha):
        node.best_value = (node.best_value * node.depth + node.beta) // (node.depth + 1)


cdef inline void average_quiescence_fail_high(Node *node) noexcept nogil:
    if node.best_value > node.beta and not is_decisive(node.best_value):
        node.best_value = (node.best_value + node.beta) // 2


cdef inline int stand_pat_value(const Node *node) noexcept nogil:
    """Return the value of a quiescence node whose static value reaches beta."""
    if is_decisive(node.value) or is_decisive(node.beta):
        return node.value
    return node.value - (node.value - node.beta) * tune.stand_pat_share // 100
