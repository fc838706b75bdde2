"""Principal-variation search and quiescence. The rules that make it selective stand in rules.pxd, a function each."""

from libc.math cimport log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from core_ext.eval.evaluate cimport evaluate
from core_ext.search.history cimport allocate_histories, clear_histories, free_histories
from core_ext.shogi.movegen cimport gives_check, init_check_info
from core_ext.search.movepick cimport (
    PICK_MAIN, PICK_PROBCUT, PICK_QUIESCENCE, PICK_QUIESCENCE_CHECKS, Picker, ScoredMove, init_picker, is_quiet,
    next_move,
)
from core_ext.search.node cimport (
    accept, describe, finds_mate, game_over, keep, look_up, make_move, make_null, must_stop, open_node, remember_tried,
    set_histories, set_static_value,
)
from core_ext.shogi.position cimport allocate_position, to_move32, free_position, undo_move, undo_null
from core_ext.search.pruning cimport (
    clamp, decided, futile_for_opponent, hash_cuts, may_be_singular, may_pass, may_probcut, null_reduction, reduction,
    singular_beta, skips, without_hash_move,
)
from core_ext.search.stack cimport Candidate, FRAMES_BEHIND, Node, RootMove, Searcher
from core_ext.shogi.see cimport see_at_least, see_value
from core_ext.search.history_updates cimport teach_correction, teach_cut, teach_hash_cut, teach_prior, teach_research
from core_ext.search.tt cimport BOUND_EXACT, BOUND_LOWER, BOUND_UPPER
from core_ext.search.tune cimport (
    CHECK_EXTENSION_DEPTH, DEEPER_MARGIN, DOUBLE_MARGIN, LMR_SCALE, NULL_VERIFY, PROBCUT_MARGIN, QUIESCENCE_CHECKS,
    QUIESCENCE_FUTILITY, QUIESCENCE_MOVES, STAND_PAT_SHARE, tune,
)
from core_ext.shogi.types cimport (
    INFINITE, MATE, MATE_BOUND, MAX_DEPTH, MAX_MOVES, MAX_PLY, Move, NO_MOVE, NO_VALUE, is_promotion, to_square,
    type_of, uint64_t,
)

# ---- memory ----

cdef int allocate_searcher(Searcher *s) except -1:
    """Everything but the evaluator, the table and the stop."""
    memset(s, 0, sizeof(Searcher))
    allocate_position(&s.pos, 2 * MAX_PLY)
    s.histories = allocate_histories()
    s.roots = <RootMove *>malloc(MAX_MOVES * sizeof(RootMove))
    s.move_memory = <ScoredMove *>malloc((MAX_PLY + 2) * 2 * MAX_MOVES * sizeof(ScoredMove))
    if s.roots == NULL or s.move_memory == NULL:
        free_searcher(s)
        raise MemoryError("no memory for a search thread")
    return 0


cdef void free_searcher(Searcher *s) noexcept nogil:
    free_position(&s.pos)
    free_histories(s.histories)
    free(s.roots)
    free(s.move_memory)
    s.histories = NULL
    s.roots = NULL
    s.move_memory = NULL


cdef void forget(Searcher *s) noexcept nogil:
    clear_histories(s.histories)


# ---- whole-node rules that search ----

cdef bint pass_holds(Searcher *s, Node *node, int *value) noexcept nogil:
    """Null move: beta holds although the opponent moves twice. Deep ones are verified without it."""
    cdef int depth = node.depth - null_reduction(node)
    make_null(s, node.frame)
    value[0] = -search_node(s, -node.beta, -node.beta + 1, depth, node.ply + 1, False)
    undo_null(&s.pos)
    if value[0] < node.beta or s.stopped:
        return False
    if decided(value[0]):
        value[0] = node.beta
    if s.null_from or node.depth < tune[NULL_VERIFY]:
        return True
    s.null_from = node.ply + 3 * clamp(depth, 1, MAX_DEPTH) // 4
    depth = search_node(s, node.beta - 1, node.beta, depth, node.ply, False)
    s.null_from = 0
    return depth >= node.beta


cdef bint probcuts(Searcher *s, Node *node, int *value) noexcept nogil:
    """A good capture whose shallow search beats beta by a margin."""
    cdef int raised = node.beta + tune[PROBCUT_MARGIN] - 40 * node.improving
    cdef Picker picker
    cdef Move move
    cdef ScoredMove *base = s.free_moves
    if s.stopped or not may_probcut(node, raised):
        return False
    init_picker(&picker, &s.pos, s.histories, base, PICK_PROBCUT, node.hash.move if node.hash_capture else NO_MOVE)
    picker.threshold = raised - node.frame.static_value
    move = next_move(&picker)
    while move:
        s.free_moves = picker.end
        make_move(s, node.frame, move, to_move32(&s.pos, move))
        value[0] = -quiescence(s, -raised, -raised + 1, 0, node.ply + 1)
        if value[0] >= raised:
            value[0] = -search_node(s, -raised, -raised + 1, node.depth - 4, node.ply + 1, not node.cut)
        undo_move(&s.pos)
        if s.stopped:
            break
        if value[0] >= raised:
            s.free_moves = base
            keep(s, node, value[0], BOUND_LOWER, node.depth - 3, move)
            return not decided(value[0])
        move = next_move(&picker)
    s.free_moves = base
    return False


cdef bint gives_up(Searcher *s, Node *node, int *value) noexcept nogil:
    """The rules that decide a whole node before any of its moves is searched."""
    if node.in_check or node.frame.excluded:
        return False
    if futile_for_opponent(node):
        value[0] = (node.value + node.beta) // 2
        return True
    if may_pass(s, node) and pass_holds(s, node, value):
        return True
    node.depth -= without_hash_move(node)
    return probcuts(s, node, value)


cdef bint extend_singular(Searcher *s, Node *node, Candidate *move, int *value) noexcept nogil:
    """Search the node without the hash move: where all else falls short, the hash move is extended; where even without
    it beta is beaten, the node is cut (multi-cut, Y. Bjornsson). Returns whether it is cut."""
    cdef int beta = singular_beta(node)
    node.frame.excluded = move.move
    value[0] = search_node(s, beta - 1, beta, (node.depth - 1) // 2, node.ply, node.cut)
    node.frame.excluded = NO_MOVE
    if s.stopped:
        return False
    if value[0] < beta:
        move.extension = 2 if not node.pv and value[0] < beta - tune[DOUBLE_MARGIN] else 1
    elif value[0] >= node.beta and not decided(value[0]):
        return True
    elif node.hash_value >= node.beta:
        move.extension = -2
    elif node.cut:
        move.extension = -1
    return False


cdef int search_reduced(Searcher *s, Node *node, const Candidate *move, int new_depth, int plies) noexcept nogil:
    """Late-move reduction: a reduced zero-window search, and the full depth only where that beats alpha.

    A good history undoes a reduction and never deepens a move: lines of such moves would not come to an end.
    """
    cdef int reduced = clamp(new_depth - plies // 1024, 1, new_depth)
    cdef int value = -search_node(s, -node.alpha - 1, -node.alpha, reduced, node.ply + 1, True)
    if value > node.alpha and reduced < new_depth:
        if value > node.best_value + tune[DEEPER_MARGIN] + 2 * new_depth:    # much better than the best: look deeper
            new_depth += 1
        elif value < node.best_value + new_depth:
            new_depth -= 1
        if reduced < new_depth:
            value = -search_node(s, -node.alpha - 1, -node.alpha, new_depth, node.ply + 1, not node.cut)
            if move.quiet and not s.stopped:
                teach_research(node, move.move32, new_depth, value)
    return value


cdef int search_move(Searcher *s, Node *node, const Candidate *move) noexcept nogil:
    """The value of a move: zero window first, the open window where it is the first or beats alpha (PVS)."""
    cdef int new_depth = node.depth - 1 + move.extension, value = -INFINITE
    cdef int plies = reduction(s, node, move) if node.depth >= 2 and node.move_count > 1 + node.pv else 0
    (node.frame + 1).pv_length = 0
    make_move(s, node.frame, move.move, move.move32)
    if node.depth >= 2 and node.move_count > 1:
        value = search_reduced(s, node, move, new_depth, plies)
    elif not node.pv or node.move_count > 1:
        value = -search_node(s, -node.alpha - 1, -node.alpha, new_depth, node.ply + 1, not node.cut)
    if node.pv and (node.move_count == 1 or value > node.alpha):
        (node.frame + 1).pv_length = 0
        value = -search_node(s, -node.beta, -node.alpha, new_depth, node.ply + 1, False)
    undo_move(&s.pos)
    return value


cdef int search_moves(Searcher *s, Node *node) noexcept nogil:
    """Every move that no rule leaves out."""
    cdef Picker picker
    cdef Candidate candidate
    cdef ScoredMove *base = s.free_moves
    cdef int value = 0
    cdef Move move
    init_check_info(&s.pos, &node.check)
    init_picker(&picker, &s.pos, s.histories, base, PICK_MAIN, node.hash.move)
    picker.killers[0] = node.frame.killers[0]
    picker.killers[1] = node.frame.killers[1]
    picker.ply = node.ply
    picker.check = &node.check
    set_histories(&picker, node.frame)
    while True:
        move = next_move(&picker)
        if not move:
            break
        if move == node.frame.excluded:
            continue
        s.free_moves = picker.end
        node.move_count += 1
        describe(s, node, move, &candidate)
        if not node.pv and skips(s, node, &picker, &candidate):
            continue
        if may_be_singular(s, node, move) and extend_singular(s, node, &candidate, &value):
            node.best_value = value
            break
        if candidate.checks and node.depth > tune[CHECK_EXTENSION_DEPTH]:
            candidate.extension = 1
        value = search_move(s, node, &candidate)
        if s.stopped:
            break
        if accept(node, move, value):
            break
        remember_tried(node, &candidate)
    s.free_moves = base
    return node.best_value


cdef int close_node(Searcher *s, Node *node) noexcept nogil:
    """No legal move is a loss; otherwise learn from the result and keep it."""
    cdef int bound
    if s.stopped:
        return 0
    if node.move_count == 0:
        return node.alpha if node.frame.excluded else node.ply - MATE
    if node.best_move:
        teach_cut(s, node)
    elif not node.frame.excluded:
        teach_prior(s, node)
    if node.frame.excluded:
        return node.best_value
    bound = BOUND_LOWER if node.best_value >= node.beta else BOUND_EXACT if node.pv and node.best_move else BOUND_UPPER
    keep(s, node, node.best_value, bound, node.depth, node.best_move)
    teach_correction(s, node)
    return node.best_value


cdef int search_node(Searcher *s, int alpha, int beta, int depth, int ply, bint cut) noexcept nogil:
    """The value of the position within the window, to `depth` plies; the rules in their order."""
    cdef Node node
    cdef int value = 0
    if depth <= 0:
        return quiescence(s, alpha, beta, 0, ply)
    open_node(s, &node, alpha, beta, depth, ply, cut)
    if must_stop(s) or ply >= MAX_PLY - 1:
        return 0 if s.stopped or node.in_check else evaluate(s.evaluator, &s.pos)
    if not node.frame.excluded:
        if game_over(s, ply, &value):
            return value
        # No mate from here on can be better or worse than one already found.
        node.alpha = clamp(alpha, ply - MATE, MATE)
        node.beta = clamp(beta, -MATE, MATE - ply - 1)
        if node.alpha >= node.beta:
            return node.alpha
    look_up(s, &node)
    if hash_cuts(&node):
        teach_hash_cut(s, &node)
        return node.hash_value
    if not node.frame.excluded and finds_mate(s, &node):
        return node.best_value
    set_static_value(s, &node)
    if gives_up(s, &node, &value) or s.stopped:
        return value
    search_moves(s, &node)
    return close_node(s, &node)


# ---- quiescence ----

cdef bint stands_pat(Searcher *s, Node *node) noexcept nogil:
    """Out of check the side to move may leave all captures alone. A value above beta is only half believed."""
    if node.in_check:
        return False
    node.best_value = node.value
    if node.best_value > node.alpha:
        node.alpha = node.best_value
    if node.best_value < node.beta:
        return False
    if not decided(node.best_value) and not decided(node.beta):
        node.best_value -= (node.best_value - node.beta) * tune[STAND_PAT_SHARE] // 100
    return True


cdef inline bint takes_back(const Node *node, Move move) noexcept nogil:
    return to_square(move) == to_square(<Move>(node.frame - 1).move)


cdef inline bint too_quiet(Searcher *s, Node *node, Move move) noexcept nogil:
    """A capture late in the list, or that cannot lift the static value to alpha, or that loses material."""
    cdef int hope
    if node.best_value <= -MATE_BOUND:
        return False
    if node.in_check:
        return node.move_count > 3 and is_quiet(&s.pos, move) and not see_at_least(&s.pos, move, 0)
    if not gives_check(&s.pos, &node.check, move):
        if node.move_count > tune[QUIESCENCE_MOVES] and not takes_back(node, move) and not is_promotion(move):
            return True
        hope = node.frame.static_value + tune[QUIESCENCE_FUTILITY] + see_value(type_of(s.pos.board[to_square(move)]))
        if hope <= node.alpha and not is_promotion(move):
            if hope > node.best_value:
                node.best_value = hope
            return True
    return not see_at_least(&s.pos, move, -20)


cdef int quiesce_moves(Searcher *s, Node *node, int depth) noexcept nogil:
    cdef Picker picker
    cdef ScoredMove *base = s.free_moves
    cdef Move move, hash_move = node.hash.move
    cdef int value, purpose = PICK_QUIESCENCE_CHECKS if depth > -tune[QUIESCENCE_CHECKS] else PICK_QUIESCENCE
    if not node.in_check and not node.hash_capture:
        hash_move = NO_MOVE
    init_check_info(&s.pos, &node.check)
    init_picker(&picker, &s.pos, s.histories, base, purpose, hash_move)
    set_histories(&picker, node.frame)
    while True:
        move = next_move(&picker)
        if not move:
            break
        node.move_count += 1
        if too_quiet(s, node, move):
            continue
        s.free_moves = picker.end
        make_move(s, node.frame, move, to_move32(&s.pos, move))
        value = -quiescence(s, -node.beta, -node.alpha, depth - 1, node.ply + 1)
        undo_move(&s.pos)
        if s.stopped or accept(node, move, value):
            break
    s.free_moves = base
    return node.best_value


cdef int quiescence(Searcher *s, int alpha, int beta, int depth, int ply) noexcept nogil:
    """Captures, promotions and on the first ply checks until the position is quiet; all evasions in check."""
    cdef Node node
    cdef int value = 0
    open_node(s, &node, alpha, beta, 0, ply, False)
    if must_stop(s) or ply >= MAX_PLY - 1:
        return 0 if s.stopped or node.in_check else evaluate(s.evaluator, &s.pos)
    if game_over(s, ply, &value):
        return value
    look_up(s, &node)
    node.depth = 0
    if hash_cuts(&node):
        return node.hash_value
    if finds_mate(s, &node):
        return node.best_value
    set_static_value(s, &node)
    if stands_pat(s, &node):
        if not node.hash.hit:
            keep(s, &node, node.best_value, BOUND_LOWER, -1, NO_MOVE)
        return node.best_value
    quiesce_moves(s, &node, depth)
    if s.stopped:
        return 0
    if node.in_check and node.move_count == 0:
        return ply - MATE
    keep(s, &node, node.best_value, BOUND_LOWER if node.best_value >= node.beta else BOUND_UPPER, 0, node.best_move)
    return node.best_value


# ---- the root ----

cdef void prepare(Searcher *s, int depth) noexcept nogil:
    """Frames and reductions for a new search of the root."""
    cdef int i
    cdef double scale = tune[LMR_SCALE]
    for i in range(1, 256):
        s.reductions[i] = <int>(scale * log(i))
    for i in range(MAX_PLY + FRAMES_BEHIND + 2):
        s.frames[i].excluded = NO_MOVE
        s.frames[i].cutoffs = 0
        s.frames[i].pv_length = 0
    for i in range(FRAMES_BEHIND):
        s.frames[i].move = NO_MOVE
        s.frames[i].continuation = &s.histories.continuation[0][0]
        s.frames[i].static_value = NO_VALUE
    s.stopped = False
    s.root_depth = depth
    s.seldepth = 0
    s.null_from = 0
    s.free_moves = s.move_memory


cdef void record(Searcher *s, Node *node, RootMove *root, int value) noexcept nogil:
    """What the root learned of a move; one that neither came first nor beat alpha says nothing but that it is not
    better.
    """
    if node.move_count > 1 and value <= node.alpha:
        root.value = -INFINITE
        return
    root.value = value
    root.bound = BOUND_UPPER if value <= node.first_alpha else BOUND_LOWER if value >= node.beta else BOUND_EXACT
    root.seldepth = s.seldepth
    root.pv[0] = root.move
    memcpy(root.pv + 1, (node.frame + 1).pv, (node.frame + 1).pv_length * sizeof(Move))
    root.pv_length = (node.frame + 1).pv_length + 1


cdef void sort_roots(Searcher *s, int first) noexcept nogil:
    """Best first; moves that say nothing keep their order."""
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


cdef int search_root(Searcher *s, int depth, int alpha, int beta, int first) noexcept nogil:
    cdef Node node
    cdef Candidate candidate
    cdef RootMove *root
    cdef int i, value
    cdef uint64_t before
    prepare(s, depth)
    open_node(s, &node, alpha, beta, depth, 0, False)
    look_up(s, &node)
    node.frame.on_pv = True
    set_static_value(s, &node)
    init_check_info(&s.pos, &node.check)
    for i in range(first, s.root_count):
        s.roots[i].previous = s.roots[i].value
        s.roots[i].value = -INFINITE
    for i in range(first, s.root_count):
        root = s.roots + i
        before = s.nodes
        node.move_count += 1
        describe(s, &node, root.move, &candidate)
        value = search_move(s, &node, &candidate)
        if must_stop(s):
            break
        root.nodes += s.nodes - before
        record(s, &node, root, value)
        if accept(&node, root.move, value):
            break
    sort_roots(s, first)
    if not s.stopped and first == 0 and node.best_move:
        keep(s, &node, node.best_value, BOUND_LOWER if node.best_value >= beta else BOUND_EXACT, depth, node.best_move)
    return node.best_value
