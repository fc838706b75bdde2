"""Principal variation search and quiescence.

`search_node` lists the steps of a node in order. The selective rules that search are above it; those that do not are in
pruning.pxd. Constants are in tune.h.
"""

from libc.math cimport log
from libc.string cimport memcpy

from core_ext.base.arithmetic cimport clamp
from core_ext.base.atomic cimport load_word
from core_ext.base.debug cimport ASSERT
from core_ext.eval.evaluate cimport evaluate
from core_ext.search.correction cimport update_correction, update_correction_after_multi_cut
from core_ext.search.history cimport pawn_history
from core_ext.search.history_updates cimport (
    update_after_multi_cut, update_after_tt_cutoff, update_by_gain, update_continuations, update_hash_move_history,
    update_histories, update_prior_move,
)
from core_ext.search.movepick cimport PICK_MAIN, PICK_PROBCUT, PICK_QUIESCENCE, Picker, init_picker
from core_ext.search.node cimport (
    add_tried_move, bound_of, check_stop, close_picker, enter_node, find_mate, find_root_move, game_end_value,
    inherit_on_pv, init_candidate, init_node, mate_node, prefetch_next, probe_table, push_move, push_null,
    sample_position, set_picker_histories, set_static_value, sort_root_moves, store_node, take_move, update_best,
    update_root_move, value_without_moves,
)
from core_ext.search.pruning cimport (
    averaged_quiescence_value, averaged_value, base_reduction, bound_in_quiescence, bound_of_move, depth_after_alpha,
    full_depth, has_enough_quiets, hindsight, iir_reduction, may_reduce, move_history, pv_depth, quiescence_cuts,
    razors, reduced_depth, reduction, reverse_futility, reverse_futility_value, small_probcut, small_probcut_value,
    stand_pat_value, tt_cuts, unreduced_depth,
)
from core_ext.search.searcher cimport Candidate, Node, REDUCTIONS, RootMove, STACK_OFFSET, Searcher
from core_ext.search.tt cimport BOUND_EXACT, BOUND_LOWER, BOUND_NONE, BOUND_UPPER
from core_ext.search.tune cimport tune
from core_ext.shogi.movegen cimport init_check_info
from core_ext.shogi.position cimport is_quiet, to_move32, undo_move, undo_null
from core_ext.shogi.types cimport *

# Depths of TT entries of quiescence, and of entries that hold only a static value or a stand-pat bound. Neither is deep
# enough for tt_cuts; small ProbCut accepts both at low depths.
cdef enum:
    QUIESCENCE_DEPTH = 0
    STATIC_DEPTH = -2

# ---- null move ----

cdef enum:
    MOST_BY_VALUE = 3           # greatest reduction in plies by the static value

cdef inline bint may_null_move(const Searcher *s, const Node *node) noexcept nogil:
    """Return whether the static value is high enough for a null move. Shogi has almost no zugzwang.

    Only in cut nodes, so never twice in a row: the node after a null move is not a cut node.
    """
    return (node.cut and not node.ss.excluded and not is_loss(node.beta)
            and node.ply >= s.null_min_ply and node.ss.static_value >= node.beta - tune.null_slope * node.depth
            - tune.null_improving * node.improving + tune.null_margin)


cdef inline int null_move_reduction(const Node *node) noexcept nogil:
    return (tune.null_base + node.depth // tune.null_divisor
            + clamp((node.ss.static_value - node.beta) // tune.null_value, 0, MOST_BY_VALUE))


cdef bint verify_null_move(Searcher *s, const Node *node, int depth) noexcept nogil:
    """Verify a deep null move: search to reduced depth without null moves in the first plies; return whether it fails
    high."""
    cdef int value
    if s.null_min_ply or node.depth < tune.null_verify:
        return True
    s.null_min_ply = node.ply + tune.null_verify_share * clamp(depth, 1, MAX_DEPTH) // 100
    value = search_node(s, node.beta - 1, node.beta, depth, node.ply, False)
    s.null_min_ply = 0
    return value >= node.beta


cdef int try_null_move(Searcher *s, const Node *node) noexcept nogil:
    """Return the value of a reduced search if it reaches beta although the opponent moves twice, else NO_VALUE."""
    cdef int depth = node.depth - null_move_reduction(node), value
    if not may_null_move(s, node):
        return NO_VALUE
    ASSERT((node.ss - 1).move != NULL_MOVE)
    push_null(s, node.ss)
    value = -search_node(s, -node.beta, -node.beta + 1, depth, node.ply + 1, False)
    undo_null(&s.pos)
    if value < node.beta or is_decisive(value) or s.stopped:
        return NO_VALUE
    return value if verify_null_move(s, node, depth) else NO_VALUE


# ---- ProbCut (M. Buro) ----

cdef inline int probcut_beta(const Node *node) noexcept nogil:
    return node.beta + tune.probcut_margin - tune.probcut_improving * node.improving


cdef inline bint may_probcut(const Node *node, int raised_beta) noexcept nogil:
    """Return whether to try ProbCut: not if the TT value is below the raised beta."""
    if node.depth < tune.probcut_depth or is_decisive(node.beta):
        return False
    return not (node.tt.bound and node.tt_value < raised_beta)


cdef inline int probcut_depth(const Node *node) noexcept nogil:
    return node.depth - tune.probcut_reduction - (not node.improving)


cdef int search_probcut(Searcher *s, const Node *node, Move move, int raised_beta) noexcept nogil:
    """Search the move by quiescence and, if that reaches the raised beta, to a reduced depth."""
    cdef int value, depth = probcut_depth(node)
    push_move(s, node.ss, move, to_move32(&s.pos, move))
    value = -quiescence(s, -raised_beta, -raised_beta + 1, node.ply + 1)
    if value >= raised_beta and depth > 0:
        value = -search_node(s, -raised_beta, -raised_beta + 1, depth, node.ply + 1, not node.cut)
    undo_move(&s.pos)
    return value


cdef int try_probcut(Searcher *s, Node *node) noexcept nogil:
    """Return the value if a good capture beats beta by a margin in a shallow search, so most likely also in a full one;
    else NO_VALUE."""
    cdef int raised_beta = probcut_beta(node), value = -INFINITE
    cdef Picker picker
    cdef Move move = NO_MOVE
    if not may_probcut(node, raised_beta):
        return NO_VALUE
    init_picker(&picker, &s.pos, s.histories, s.free_moves, PICK_PROBCUT,
                node.tt.move if node.tt_capture else NO_MOVE)
    picker.threshold = raised_beta - node.ss.static_value
    while value < raised_beta and not s.stopped:
        move = take_move(s, &picker)
        if not move:
            break
        if move != node.ss.excluded:
            value = search_probcut(s, node, move, raised_beta)
    close_picker(s, &picker)
    if value < raised_beta or s.stopped:
        return NO_VALUE
    store_node(s, node, value, BOUND_LOWER, max(probcut_depth(node) + 1, QUIESCENCE_DEPTH), move)
    return NO_VALUE if is_decisive(value) else value - (raised_beta - node.beta)


# ---- singular extension (Anantharaman, Campbell, Hsu) and multi-cut (Björnsson) ----

cdef enum:
    SINGULAR_STEP = 55          # the margin below the TT value is in 1/55 centipawn per ply
    TRUST_UNIT = 131072         # of the hash move history, times tune.singular_hash_move
    LIKELY_CUT = -3             # extension if the hash move is not singular: the TT value reaches beta
    CUT_NODE = -2               # or the node is a cut node


cdef inline bint may_be_singular(const Searcher *s, const Node *node, Move move) noexcept nogil:
    """Return whether the move is the hash move and the TT has a lower bound from a search nearly as deep."""
    return (move == node.tt.move and not node.ss.excluded and node.depth >= tune.singular_depth + node.ss.on_pv
            and node.ply < 2 * s.root_depth and not is_decisive(node.tt_value) and (node.tt.bound & BOUND_LOWER)
            and node.tt.depth >= node.depth - tune.singular_hash_depth)


cdef inline int singular_beta(const Node *node) noexcept nogil:
    cdef int margin = tune.singular_margin + tune.singular_margin_pv * (node.ss.on_pv and not node.pv)
    return node.tt_value - margin * node.depth // SINGULAR_STEP


cdef inline int singular_search_depth(const Node *node) noexcept nogil:
    return (node.depth - 1) // 2


cdef int search_alternatives(Searcher *s, const Node *node, Move move, int beta) noexcept nogil:
    """Search the node without the move, to half the depth."""
    cdef int value
    node.ss.excluded = move
    value = search_node(s, beta - 1, beta, singular_search_depth(node), node.ply, node.cut)
    node.ss.excluded = NO_MOVE
    return value


cdef inline int extension_by_margins(const Searcher *s, const Node *node, int shortfall) noexcept nogil:
    """Return one to three plies for a singular move, by how far the alternatives fall short of it.

    Extend more readily if the static value is unreliable and if hash moves have often been best.
    """
    cdef bint quiet = not node.tt_capture, late = node.ply > s.root_depth
    cdef int trust = tune.singular_hash_move * s.histories.hash_move // TRUST_UNIT
    shortfall += tune.singular_error * node.error // 1024
    return (1 + (shortfall + trust > tune.double_margin + tune.double_pv * node.pv - tune.double_quiet * quiet
                 - tune.double_late * late)
            + (shortfall > tune.triple_margin + tune.triple_pv * node.pv - tune.triple_quiet * quiet
               + tune.triple_on_pv * node.ss.on_pv - tune.triple_late * late))


cdef inline int singular_extension(const Searcher *s, const Node *node, int shortfall) noexcept nogil:
    """Return plies for the hash move: positive if it is singular, negative if the node will likely be cut anyway."""
    if shortfall > 0:
        return extension_by_margins(s, node, shortfall)
    if node.tt_value >= node.beta:
        return LIKELY_CUT
    return CUT_NODE if node.cut else 0


cdef inline bint extend_hash_move(Searcher *s, Node *node, Candidate *candidate) noexcept nogil:
    """Search the alternatives of the hash move below its TT value. If all fail low, it is singular: extend it.

    Return whether one of them reaches beta instead and so cuts the node (multi-cut).
    """
    cdef int beta, value
    if not may_be_singular(s, node, candidate.move):
        return False
    beta = singular_beta(node)      # computed once: the search of the alternatives can change node.ss.on_pv
    value = search_alternatives(s, node, candidate.move, beta)
    if not s.stopped and value >= beta and value >= node.beta and not is_decisive(value):
        node.best_value = value
        update_after_multi_cut(s, node)
        update_correction_after_multi_cut(s, node, singular_search_depth(node))
        return True
    candidate.extension = singular_extension(s, node, beta - value)
    node.depth += candidate.extension > 0       # for the other moves; candidate.depth stays
    return False


# ---- late move reduction (amounts: pruning.pxd) ----

cdef int search_reduced(Searcher *s, Node *node, const Candidate *candidate, int amount, int *depth) noexcept nogil:
    """Search a zero window to reduced depth and, if that beats alpha, to full depth; `depth` becomes the full depth."""
    cdef int reduced = reduced_depth(node, amount, depth[0])
    cdef int value
    node.ss.reduction = depth[0] - reduced
    value = -search_node(s, -node.alpha - 1, -node.alpha, reduced, node.ply + 1, True)
    node.ss.reduction = 0
    if value <= node.alpha or s.stopped:
        return value
    depth[0] = full_depth(node, value, reduced, depth[0])
    if depth[0] > reduced:
        value = -search_node(s, -node.alpha - 1, -node.alpha, depth[0], node.ply + 1, not node.cut)
    if not s.stopped:
        update_continuations(node.ss, candidate.move32, tune.post_lmr_bonus)
    return value


# ---- main search ----

cdef int search_move(Searcher *s, Node *node, const Candidate *candidate) noexcept nogil:
    """Search a move (PVS): zero window first, open window if it is the first of a PV node or beats alpha."""
    cdef int depth = candidate.depth + candidate.extension, amount, value = -INFINITE
    node.ss.history = move_history(s, node, candidate)
    amount = reduction(node, candidate)
    (node.ss + 1).pv_length = 0
    push_move(s, node.ss, candidate.move, candidate.move32)
    if may_reduce(node):
        value = search_reduced(s, node, candidate, amount, &depth)
    elif not node.pv or node.move_count > 1:
        value = -search_node(s, -node.alpha - 1, -node.alpha, unreduced_depth(node, amount, depth), node.ply + 1,
                             not node.cut)
    if node.pv and (node.move_count == 1 or value > node.alpha):
        (node.ss + 1).pv_length = 0
        value = -search_node(s, -node.beta, -node.alpha, pv_depth(node, candidate, depth), node.ply + 1, False)
    undo_move(&s.pos)
    return value


cdef void init_main_picker(Searcher *s, Node *node, Picker *picker) noexcept nogil:
    init_check_info(&s.pos, &node.check_info)
    init_picker(picker, &s.pos, s.histories, s.free_moves, PICK_MAIN, node.tt.move)
    picker.ply = node.ply
    picker.check_info = &node.check_info
    set_picker_histories(picker, node.ss)


cdef inline void begin_move(Searcher *s, Node *node, Move move, Candidate *candidate) noexcept nogil:
    node.move_count += 1
    node.ss.move_count = node.move_count
    init_candidate(s, node, move, candidate)
    candidate.reduction = base_reduction(s, node)


cdef inline void finish_move(Node *node, const Candidate *candidate, int value) noexcept nogil:
    """Update the node after a move that did not cut it."""
    if candidate.move == node.best_move:
        node.depth = depth_after_alpha(node, value)
    else:
        add_tried_move(node, candidate)


cdef int search_moves(Searcher *s, Node *node) noexcept nogil:
    """Search every move that is not pruned; return the best value."""
    cdef Picker picker
    cdef Candidate candidate
    cdef int value
    cdef Move move
    init_main_picker(s, node, &picker)
    while True:
        move = take_move(s, &picker)
        if not move:
            break
        if move == node.ss.excluded:
            continue
        begin_move(s, node, move, &candidate)
        picker.skip_quiets = picker.skip_quiets or has_enough_quiets(node)
        value = bound_of_move(s, node, &candidate)
        if value != NO_VALUE:
            node.best_value = max(node.best_value, value)
            continue
        if extend_hash_move(s, node, &candidate) or s.stopped:
            break
        prefetch_next(s, node, &picker)
        value = search_move(s, node, &candidate)
        if s.stopped:
            break
        if update_best(node, move, value):
            node.ss.cutoffs += candidate.extension < 2 or node.pv
            break
        finish_move(node, &candidate, value)
    close_picker(s, &picker)
    return node.best_value


cdef int finish_node(Searcher *s, Node *node) noexcept nogil:
    """Update the histories, store the result and return the node's value."""
    if s.stopped:
        return 0
    if node.move_count == 0:
        return value_without_moves(node)
    if node.best_value >= node.beta and not node.best_move:     # multi-cut: a shallower search said so
        return node.best_value
    node.best_value = averaged_value(node)
    if node.best_move:
        update_histories(s, node)
        update_hash_move_history(s, node)
    else:
        update_prior_move(s, node)
    if node.best_value <= node.alpha:
        inherit_on_pv(node)
    if not node.ss.excluded:
        store_node(s, node, node.best_value, bound_of(node), node.depth, node.best_move)
    update_correction(s, node)
    return node.best_value


cdef void use_static_value(Searcher *s, Node *node) noexcept nogil:
    """Store the static value, let it reward the last move, and correct the depth by it. Not in check."""
    if not node.tt.hit and not node.ss.excluded:
        store_node(s, node, 0, BOUND_NONE, STATIC_DEPTH, NO_MOVE)
    update_by_gain(s, node)
    node.depth += hindsight(node)


cdef int value_by_margins(Searcher *s, const Node *node) noexcept nogil:
    """Return the value of a node whose static value is far outside the window, else NO_VALUE. Not in check."""
    if razors(node):
        return quiescence(s, node.alpha, node.beta, node.ply)
    if reverse_futility(node):
        return reverse_futility_value(node)
    return try_null_move(s, node)


cdef int search_node(Searcher *s, int alpha, int beta, int depth, int ply, bint cut) noexcept nogil:
    """Return the value of the position for the side to move, within the window, to `depth` plies."""
    cdef Node node
    cdef Move mate
    cdef int value = 0
    if depth <= 0:
        return quiescence(s, alpha, beta, ply)
    init_node(s, &node, alpha, beta, depth, ply, cut)
    enter_node(s, &node)
    node.ss.pawn_history = pawn_history(s.histories, &s.pos)
    if check_stop(s) or ply >= MAX_PLY - 1:
        return 0 if s.stopped or node.in_check else evaluate(s.evaluator, &s.pos)
    if not node.ss.excluded:
        value = game_end_value(s, &node)
        if value != NO_VALUE:
            return value
        # Mate distance pruning: no mate from here on is better or worse than one already found.
        node.alpha = clamp(alpha, ply - MATE, MATE)
        node.beta = clamp(beta, -MATE, MATE - ply - 1)
        if node.alpha >= node.beta:
            return node.alpha
    probe_table(s, &node)
    if tt_cuts(&node):
        update_after_tt_cutoff(s, &node)
        return node.tt_value
    mate = find_mate(s, &node)
    if mate:
        return mate_node(s, &node, mate)
    set_static_value(s, &node)
    sample_position(s, &node)
    if not node.in_check:
        use_static_value(s, &node)
        value = value_by_margins(s, &node)
        if value == NO_VALUE and not s.stopped:
            node.improving = node.improving or node.ss.static_value >= node.beta
            node.depth -= iir_reduction(&node)
            value = try_probcut(s, &node)
        if value != NO_VALUE or s.stopped:
            return value
    if small_probcut(&node):
        return small_probcut_value(&node)
    search_moves(s, &node)
    return finish_node(s, &node)


# ---- quiescence ----

cdef int stand_pat(Searcher *s, Node *node) noexcept nogil:
    """Return the value of a node whose static value reaches beta; store it if the TT has no entry."""
    node.best_value = stand_pat_value(node)
    if not node.tt.hit:
        store_node(s, node, node.best_value, BOUND_LOWER, STATIC_DEPTH, NO_MOVE)
    return node.best_value


cdef void init_quiescence_picker(Searcher *s, Node *node, Picker *picker) noexcept nogil:
    init_picker(picker, &s.pos, s.histories, s.free_moves, PICK_QUIESCENCE, node.tt.move)
    set_picker_histories(picker, node.ss)


cdef int quiesce_moves(Searcher *s, Node *node) noexcept nogil:
    cdef Picker picker
    cdef Move move
    cdef int value
    init_quiescence_picker(s, node, &picker)
    while True:
        move = take_move(s, &picker)
        if not move:
            break
        node.move_count += 1
        if node.move_count == 1 and not node.in_check:      # most nodes have no capture
            init_check_info(&s.pos, &node.check_info)
        value = bound_in_quiescence(s, node, move)
        if value != NO_VALUE:
            node.best_value = max(node.best_value, value)
            continue
        push_move(s, node.ss, move, to_move32(&s.pos, move))
        value = -quiescence(s, -node.beta, -node.alpha, node.ply + 1)
        undo_move(&s.pos)
        if s.stopped or update_best(node, move, value):
            break
    close_picker(s, &picker)
    return node.best_value


cdef int quiescence(Searcher *s, int alpha, int beta, int ply) noexcept nogil:
    """Search captures and pawn promotions; in check, captures that lose little, and quiet evasions until one
    avoids mate."""
    cdef Node node
    cdef Move mate
    cdef int value = 0
    init_node(s, &node, alpha, beta, 0, ply, False)
    enter_node(s, &node)
    if check_stop(s) or ply >= MAX_PLY - 1:
        return 0 if s.stopped or node.in_check else evaluate(s.evaluator, &s.pos)
    value = game_end_value(s, &node)
    if value != NO_VALUE:
        return value
    probe_table(s, &node)
    # From the TT entry only. If this leaf set it, its own entry would disable reverse futility pruning from now on.
    node.ss.on_pv = node.tt.hit and node.tt.on_pv
    if quiescence_cuts(&node):
        return node.tt_value
    mate = find_mate(s, &node)
    if mate:
        return mate_node(s, &node, mate)
    set_static_value(s, &node)
    sample_position(s, &node)
    if not node.in_check:
        if node.value >= node.beta:
            return stand_pat(s, &node)
        node.best_value = node.value
        node.alpha = node.value if node.value > node.alpha else node.alpha
    quiesce_moves(s, &node)
    if s.stopped:
        return 0
    if node.in_check and node.move_count == 0:
        return ply - MATE
    node.best_value = averaged_quiescence_value(&node)
    store_node(s, &node, node.best_value, BOUND_LOWER if node.best_value >= node.beta else BOUND_UPPER,
               QUIESCENCE_DEPTH, node.best_move)
    return node.best_value


# ---- root ----

cdef void init_search(Searcher *s, int depth) noexcept nogil:
    """Initialise the reductions, and the stack before the root."""
    cdef int i
    cdef double scale = tune.lmr_scale / 128.0
    for i in range(1, REDUCTIONS):
        s.reductions[i] = <int>(scale * log(i))
    for i in range(STACK_OFFSET):
        s.stack[i].move = NO_MOVE
        s.stack[i].continuation = &s.histories.continuation[0][0]
        s.stack[i].correction = &s.histories.move_correction[0][0]
        s.stack[i].static_value = NO_VALUE
        s.stack[i].in_check = s.stack[i].tt_hit = s.stack[i].on_pv = False
        s.stack[i].move_count = s.stack[i].history = 0
    s.stopped = False
    s.root_depth = depth
    s.seldepth = 0
    s.null_min_ply = 0
    s.free_moves = s.move_memory


cdef void init_root(Searcher *s, Node *node, int depth, int alpha, int beta, int first) noexcept nogil:
    init_search(s, depth)
    s.root_window = beta - alpha
    if s.roots[first].bound == BOUND_EXACT:
        s.last_pv_length = s.roots[first].pv_length
        memcpy(s.last_pv, s.roots[first].pv, s.last_pv_length * sizeof(Move))
    init_node(s, node, alpha, beta, depth, 0, False)
    enter_node(s, node)
    node.ss.pawn_history = pawn_history(s.histories, &s.pos)
    probe_table(s, node)
    node.tt.move = s.roots[first].move
    node.tt_capture = not is_quiet(&s.pos, node.tt.move)
    node.ss.on_pv = True
    set_static_value(s, node)
    sample_position(s, node)
    node.improving = node.improving or (not node.in_check and node.ss.static_value >= node.beta)


cdef bint search_root_move(Searcher *s, Node *node, RootMove *root) noexcept nogil:
    """Search a root move; return whether the root search ends, because it is stopped or beta is reached."""
    cdef Candidate candidate
    cdef uint64_t nodes_before = load_word(&s.nodes)
    cdef int value
    root.searched = True
    begin_move(s, node, root.move, &candidate)
    value = search_move(s, node, &candidate)
    if check_stop(s):
        return True
    root.nodes += load_word(&s.nodes) - nodes_before
    update_root_move(s, node, root, value)
    if update_best(node, root.move, value):
        return True
    finish_move(node, &candidate, value)
    return False


cdef void search_root_moves(Searcher *s, Node *node, int first) noexcept nogil:
    """Search the root moves in the picker's order, then those that it leaves out (non-promotions that never help)."""
    cdef Picker picker
    cdef RootMove *root
    cdef Move move
    cdef bint ended = False
    cdef int i
    init_main_picker(s, node, &picker)
    while not ended:
        move = take_move(s, &picker)
        if not move:
            break
        root = find_root_move(s, first, move)
        ended = root != NULL and search_root_move(s, node, root)
    for i in range(first, s.root_count):
        if not ended and not s.roots[i].searched:
            ended = search_root_move(s, node, s.roots + i)
    close_picker(s, &picker)


cdef int search_iteration(Searcher *s, int depth, int alpha, int beta, int first) noexcept nogil:
    cdef Node node
    cdef int i
    init_root(s, &node, depth, alpha, beta, first)
    for i in range(first, s.root_count):
        s.roots[i].previous = s.roots[i].value
        s.roots[i].value = -INFINITE
        s.roots[i].searched = False
    search_root_moves(s, &node, first)
    # A later line that has its value may be better than the lines before it.
    sort_root_moves(s, 0 if not s.stopped and alpha < node.best_value < beta else first)
    if not s.stopped and first == 0:
        return finish_node(s, &node)
    return node.best_value
