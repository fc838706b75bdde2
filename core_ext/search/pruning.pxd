"""Selective rules that need no search of their own: each has its condition, amount and reason in one place. None of
them changes anything.

Null move, ProbCut and the singular extension search, so they are in search.pyx. Constants are in tune.h, by rule. Forms
and values follow YaneuraOu 9.70 and, through it, Stockfish; they were tuned together and taken over together.
"""

from core_ext.base.arithmetic cimport clamp
from core_ext.search.history cimport butterfly_value, capture_value, continuation_value, pawn_history_value
from core_ext.search.searcher cimport Candidate, Node, REDUCTIONS, Searcher
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

cdef inline bint has_enough_quiets(const Node *node) noexcept nogil:
    """Late move pruning: return whether to skip quiet moves after the first few; a deeper node searches more of them.
    """
    return (not is_loss(node.best_value)
            and node.move_count >= (tune.lmp_base + node.depth * node.depth) // (1 if node.improving else 2))


cdef inline int futility_value(const Node *node, int depth) noexcept nogil:
    """Return the most that a quiet move is expected to reach with `depth` plies left."""
    return (node.ss.static_value + tune.futility_base + tune.futility_no_best * (node.best_move == NO_MOVE)
            + tune.futility_slope * depth + tune.futility_above * (node.ss.static_value > node.alpha))


# A bound is NO_VALUE if the move must be searched. Otherwise the move is pruned, and the bound is the value that it may
# have, to which the best value is raised (fail soft); -INFINITE leaves it as it is.

cdef inline int bound_of_quiet(Searcher *s, const Node *node, const Candidate *candidate,
                               int lmr_depth) noexcept nogil:
    """Prune a quiet move by bad history, if it cannot reach alpha (futility), or if it loses material (SEE)."""
    cdef int history = continuation_value((node.ss - 1).continuation, candidate.move32), value
    history += continuation_value((node.ss - 2).continuation, candidate.move32)
    history += pawn_history_value(node.ss.pawn_history, candidate.move32)
    if history < -tune.history_prune * node.depth:
        return -INFINITE
    history += tune.history_main * butterfly_value(s.histories, s.pos.side, candidate.move) // 32
    lmr_depth += history // (tune.history_depth + tune.history_depth_slope * (8 - clamp(node.depth, 0, 16)))
    if not node.in_check and lmr_depth < tune.futility_depth:
        value = futility_value(node, lmr_depth)
        if value <= node.alpha:
            return -INFINITE if is_win(value) else value
    lmr_depth = lmr_depth if lmr_depth > 0 else 0
    if see_at_least(&s.pos, candidate.move, -tune.quiet_see_slope * lmr_depth * lmr_depth):
        return NO_VALUE
    return -INFINITE


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


cdef inline int bound_of_move(Searcher *s, const Node *node, const Candidate *candidate) noexcept nogil:
    """Return the bound of a move in the main search. No move is pruned before one avoids mate."""
    cdef int lmr_depth = candidate.depth - candidate.reduction // 1024
    if is_loss(node.best_value):
        return NO_VALUE
    if not candidate.quiet or candidate.checks:
        return -INFINITE if is_hopeless(s, node, candidate, lmr_depth) else NO_VALUE
    return NO_VALUE if node.pv and node.ss.follows_pv else bound_of_quiet(s, node, candidate, lmr_depth)


# ---- pruning of moves in quiescence ----

cdef inline int bound_of_capture(Searcher *s, const Node *node, Move32 move32) noexcept nogil:
    """Prune all captures after the first few, and those that cannot reach alpha with the material they win."""
    cdef int base = node.ss.static_value + tune.quiescence_futility, value
    if node.move_count > tune.quiescence_moves:
        return -INFINITE
    value = base + capture_gain(move32)
    if value <= node.alpha:
        return value
    if see_at_least(&s.pos, <Move>move32, node.alpha - base):
        return NO_VALUE
    return node.alpha if node.alpha < base else base


cdef inline int bound_in_quiescence(Searcher *s, const Node *node, Move move) noexcept nogil:
    """Return the bound of a move in quiescence. No move is pruned before one avoids mate.

    Checks and recaptures are not futile. In check, quiet evasions are searched until one avoids mate. A quiet hash move
    is pruned as well, but it counts as one of the first moves and may raise the best value.
    """
    cdef Move32 move32 = to_move32(&s.pos, move), last = (node.ss - 1).move
    cdef int bound = NO_VALUE
    if is_loss(node.best_value):
        return NO_VALUE
    if (not node.in_check and (last == NULL_MOVE or to_square(move) != to_square(last))
            and not gives_check(&node.check_info, move32)):
        bound = bound_of_capture(s, node, move32)
    if bound == NO_VALUE and (is_quiet32(move32) or not see_at_least(&s.pos, move, -tune.quiescence_see)):
        return -INFINITE
    return bound


# ---- fail-high averaging (Stockfish): a shallow fail high is unreliable, so its value is moved towards beta ----

cdef inline int averaged_value(const Node *node) noexcept nogil:
    """Return the best value; if it is above beta, its average with beta, which weighs as much as one ply of depth."""
    if node.best_value > node.beta and not is_decisive(node.best_value) and not is_decisive(node.alpha):
        return (node.best_value * node.depth + node.beta) // (node.depth + 1)
    return node.best_value


cdef inline int averaged_quiescence_value(const Node *node) noexcept nogil:
    if node.best_value > node.beta and not is_decisive(node.best_value):
        return (node.best_value + node.beta) // 2
    return node.best_value


cdef inline int stand_pat_value(const Node *node) noexcept nogil:
    """Return the value of a quiescence node whose static value reaches beta."""
    if is_decisive(node.value) or is_decisive(node.beta):
        return node.value
    return node.value - (node.value - node.beta) * tune.stand_pat_share // 100


# ---- late move reduction: amounts in 1/1024 ply; search_move and search_reduced in search.pyx run the searches ----

cdef enum:
    FEW_CUTOFFS = 1             # of the children: more increase the reduction
    MANY_CUTOFFS = 2            # more increase it further
    ALL_SLOPE = 256             # divisor of lmr_all: per ply of depth
    ALL_OFFSET = 260
    BUTTERFLY_WEIGHT = 2        # in the history score of a quiet move; continuation histories have 1
    TWO_PLIES_DEPTH = 2         # a search outside LMR loses a second ply only above this depth
    AFTER_ALPHA_LEAST = 2       # depth_after_alpha is less only above this depth


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


cdef inline int depth_after_alpha(const Node *node, int value) noexcept nogil:
    """Return the depth of the remaining moves once a move has raised alpha: few of them raise it again (Stockfish)."""
    cdef bint less = AFTER_ALPHA_LEAST < node.depth < tune.after_alpha_depth and not is_decisive(value)
    return node.depth - (tune.after_alpha if less else 0)
