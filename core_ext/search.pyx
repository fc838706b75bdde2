"""Principal-variation search and quiescence. The rules that make it selective stand in rules.pxd, a function each."""

from libc.math cimport log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from core_ext.debug cimport ASSERT
from core_ext.evaluate cimport evaluate
from core_ext.history cimport (
    BUTTERFLY_LIMIT, CAPTURE_LIMIT, CONTINUATION_LIMIT, CORRECTION_LIMIT, LOW_PLIES, allocate_histories, capture_entry,
    clear_histories, continuation_entry, free_histories, move_slot, nudge,
)
from core_ext.mate cimport mate_in_one
from core_ext.movegen cimport gives_check, has_legal_move, init_check_info, is_legal
from core_ext.movepick cimport (
    PICK_MAIN, PICK_PROBCUT, PICK_QUIESCENCE, PICK_QUIESCENCE_CHECKS, Picker, ScoredMove, init_picker, is_quiet, next_move,
)
from core_ext.position cimport (
    NO_REPETITION, REPETITION_DRAW, REPETITION_INFERIOR, REPETITION_LOSS, REPETITION_SUPERIOR, REPETITION_WIN, RULE_TRY,
    allocate_position, can_declare, do_move, do_null, enrich, find_repetition, free_position, full_key, game_length, in_check,
    key_after, try_move, undo_move, undo_null,
)
from core_ext.rules cimport (
    bonus_of, clamp, corrected, correction_by_hands, correction_by_move, decided, futile_for_opponent, hash_cuts,
    late_move_limit, malus_of, may_be_singular, may_pass, may_probcut, null_reduction, quiet_history, razors, reduction,
    singular_beta, skips, without_hash_move,
)
from core_ext.searcher cimport Candidate, FRAMES_BEHIND, Frame, Node, RootMove, Searcher, TRIED_MOVES
from core_ext.see cimport see_at_least, see_value
from core_ext.tt cimport (
    BOUND_EXACT, BOUND_LOWER, BOUND_NONE, BOUND_UPPER, prefetch_entry, probe, store, value_from_table, value_to_table,
)
from core_ext.tune cimport *
from core_ext.types cimport (
    INFINITE, MATE, MATE_BOUND, MAX_DEPTH, MAX_MOVES, MAX_PLY, Move, NO_MOVE, NO_VALUE, NULL_MOVE, RichMove,
    captured_piece, is_promotion, placed_piece, to_square, type_of, uint64_t,
)

cdef enum:
    WIN_BY_RULE = 30000         # the opponent gives perpetual check: won unless it deviates, so not a mate
    SUPERIOR_VALUE = 28000      # the same board came before with less in hand
    FULL_DEPTH = 250            # stored with what needs no search


# ---- memory ----

cdef int allocate_searcher(Searcher *s) except -1:
    """Everything but the evaluator, the table and the signal."""
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


# ---- moving along the line ----

cdef inline void make_move(Searcher *s, Frame *frame, Move move, RichMove rich) noexcept nogil:
    frame.move = rich
    frame.continuation = &s.histories.continuation[placed_piece(rich)][to_square(rich)]
    prefetch_entry(s.table, key_after(&s.pos, rich))
    do_move(&s.pos, move)
    s.nodes += 1


cdef inline void make_null(Searcher *s, Frame *frame) noexcept nogil:
    frame.move = NULL_MOVE
    frame.continuation = &s.histories.continuation[0][0]
    do_null(&s.pos)
    prefetch_entry(s.table, full_key(&s.pos))


cdef inline bint must_stop(Searcher *s) noexcept nogil:
    if s.signal[0] or (s.node_limit and s.nodes >= s.node_limit):
        s.stopped = True
    return s.stopped


cdef inline int draw_value(const Searcher *s) noexcept nogil:
    return s.draw_value[s.pos.side]


cdef inline void copy_line(Frame *frame, Move move) noexcept nogil:
    """This node's principal variation: the move, then the child's."""
    cdef Frame *child = frame + 1
    frame.pv[0] = move
    memcpy(frame.pv + 1, child.pv, child.pv_length * sizeof(Move))
    frame.pv_length = child.pv_length + 1


# ---- the end of the game ----

cdef bint repetition_value(Searcher *s, int ply, int *value) noexcept nogil:
    """A position that came before: judged as if it were played out. Better or worse hands count only within the search."""
    cdef int repetition = find_repetition(&s.pos, s.pos.state.since_null)
    if repetition == NO_REPETITION:
        return False
    if repetition == REPETITION_DRAW:
        value[0] = draw_value(s)
    elif repetition == REPETITION_WIN:
        value[0] = WIN_BY_RULE - ply
    elif repetition == REPETITION_LOSS:
        value[0] = ply - WIN_BY_RULE
    elif find_repetition(&s.pos, ply) != repetition:
        return False
    else:
        value[0] = SUPERIOR_VALUE - ply if repetition == REPETITION_SUPERIOR else ply - SUPERIOR_VALUE
    return True


cdef bint game_over(Searcher *s, int ply, int *value) noexcept nogil:
    """Repetition, the move limit, a declaration: the value is the rule's."""
    if repetition_value(s, ply, value):
        return True
    if s.max_moves and s.pos.ply > s.max_moves:     # a mate on the last move still wins
        value[0] = ply - MATE if in_check(&s.pos) and not has_legal_move(&s.pos) else draw_value(s)
        return True
    if s.declaration and (can_declare(&s.pos, s.declaration)
                          or (s.declaration == RULE_TRY and try_move(&s.pos) != NO_MOVE)):
        value[0] = MATE - ply - 1
        return True
    return False


# ---- the table ----

cdef void look_up(Searcher *s, Node *node) noexcept nogil:
    """What the table knows; a hash move that is not legal here belongs to another position with the same key."""
    probe(s.table, full_key(&s.pos), &node.hash)
    node.hash_value = NO_VALUE
    if node.hash.hit:
        node.hash_value = value_from_table(node.hash.value, node.ply)
        if node.hash.move and not is_legal(&s.pos, node.hash.move):
            node.hash.move = NO_MOVE
    node.hash_capture = node.hash.move != NO_MOVE and not is_quiet(&s.pos, node.hash.move)
    node.frame.on_pv = node.pv or (node.hash.hit and node.hash.on_pv)


cdef void keep(Searcher *s, const Node *node, int value, int bound, int depth, Move move) noexcept nogil:
    store(s.table, full_key(&s.pos), move, value_to_table(value, node.ply), node.raw_value, depth, bound,
          node.frame.on_pv)


cdef bint finds_mate(Searcher *s, Node *node) noexcept nogil:
    """A mate in one move ends the node; the table keeps it."""
    cdef Move move
    if not tune[MATE_IN_ONE] or node.in_check or node.hash.hit:
        return False
    move = mate_in_one(&s.pos)
    if not move:
        return False
    node.raw_value = 0
    node.best_value = MATE - node.ply - 1
    keep(s, node, node.best_value, BOUND_EXACT, MAX_DEPTH, move)
    if node.pv:
        node.frame.pv[0] = move
        node.frame.pv_length = 1
    return True


cdef void set_static_value(Searcher *s, Node *node) noexcept nogil:
    """The evaluation, corrected by what earlier searches taught; `value` also by the table's bound."""
    cdef Frame *frame = node.frame
    if node.in_check:
        frame.static_value = NO_VALUE
        node.raw_value = NO_VALUE
        node.value = NO_VALUE
        node.improving = False
        return
    if node.hash.hit and node.hash.static_value != NO_VALUE:
        node.raw_value = node.hash.static_value
    else:
        node.raw_value = evaluate(s.evaluator, &s.pos)
    frame.static_value = corrected(s, frame, node.raw_value)
    node.value = frame.static_value
    if node.hash.hit and not decided(node.hash_value):
        if node.hash.bound & (BOUND_LOWER if node.hash_value > node.value else BOUND_UPPER):
            node.value = node.hash_value
    node.improving = improves(frame)


cdef inline bint improves(const Frame *frame) noexcept nogil:
    """Better than two plies ago (four, where that was in check)."""
    if (frame - 2).static_value != NO_VALUE:
        return frame.static_value > (frame - 2).static_value
    if (frame - 4).static_value != NO_VALUE:
        return frame.static_value > (frame - 4).static_value
    return True


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
    if not may_probcut(node, raised):
        return False
    init_picker(&picker, &s.pos, s.histories, base, PICK_PROBCUT, node.hash.move if node.hash_capture else NO_MOVE)
    picker.threshold = raised - node.frame.static_value
    move = next_move(&picker)
    while move:
        s.free_moves = picker.end
        make_move(s, node.frame, move, enrich(&s.pos, move))
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
    if razors(node):
        value[0] = quiescence(s, node.alpha, node.alpha + 1, 0, node.ply)
        if value[0] <= node.alpha:
            return True
    if futile_for_opponent(node):
        value[0] = (node.value + node.beta) // 2
        return True
    if may_pass(s, node) and pass_holds(s, node, value):
        return True
    node.depth -= without_hash_move(node)
    return probcuts(s, node, value)


# ---- moves ----

cdef void describe(Searcher *s, const Node *node, Move move, Candidate *candidate) noexcept nogil:
    candidate.move = move
    candidate.rich = enrich(&s.pos, move)
    candidate.quiet = is_quiet(&s.pos, move)
    candidate.checks = gives_check(&s.pos, &node.check, move)
    candidate.killer = move == node.frame.killers[0] or move == node.frame.killers[1]
    candidate.extension = 0
    if candidate.quiet:
        candidate.history = quiet_history(s, node.frame, candidate)
    else:
        candidate.history = capture_entry(s.histories, candidate.rich)[0]


cdef void remember_tried(Node *node, const Candidate *move) noexcept nogil:
    if move.quiet and node.quiet_count < TRIED_MOVES:
        node.quiets[node.quiet_count] = move.move
        node.quiet_count += 1
    elif not move.quiet and node.capture_count < TRIED_MOVES:
        node.captures[node.capture_count] = move.move
        node.capture_count += 1


cdef bint extend_singular(Searcher *s, Node *node, Candidate *move, int *value) noexcept nogil:
    """Search the node without the hash move: where all else falls short, the hash move is extended; where even without it beta
    is beaten, the node is cut (multi-cut, Y. Bjornsson). Returns whether it is cut."""
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
    """Late-move reduction: a reduced zero-window search, and the full depth only where that beats alpha."""
    cdef int reduced = clamp(new_depth - plies // 1024, 1, new_depth + 1)
    cdef int value = -search_node(s, -node.alpha - 1, -node.alpha, reduced, node.ply + 1, True)
    if value > node.alpha and reduced < new_depth:
        if value > node.best_value + 40 + 2 * new_depth:    # much better than the best: look deeper
            new_depth += 1
        elif value < node.best_value + new_depth:
            new_depth -= 1
        if reduced < new_depth:
            value = -search_node(s, -node.alpha - 1, -node.alpha, new_depth, node.ply + 1, not node.cut)
    return value


cdef int search_move(Searcher *s, Node *node, const Candidate *move) noexcept nogil:
    """The value of a move: zero window first, the open window where it is the first or beats alpha (PVS)."""
    cdef int new_depth = node.depth - 1 + move.extension, value = -INFINITE
    cdef int plies = reduction(s, node, move) if node.depth >= 2 and node.move_count > 1 + node.pv else 0
    (node.frame + 1).pv_length = 0
    make_move(s, node.frame, move.move, move.rich)
    if node.depth >= 2 and node.move_count > 1:
        value = search_reduced(s, node, move, new_depth, plies)
    elif not node.pv or node.move_count > 1:
        value = -search_node(s, -node.alpha - 1, -node.alpha, new_depth, node.ply + 1, not node.cut)
    if node.pv and (node.move_count == 1 or value > node.alpha):
        (node.frame + 1).pv_length = 0
        value = -search_node(s, -node.beta, -node.alpha, new_depth, node.ply + 1, False)
    undo_move(&s.pos)
    return value


cdef bint accept(Node *node, Move move, int value) noexcept nogil:
    """Take the value into account; True where it beats beta."""
    if value <= node.best_value:
        return False
    node.best_value = value
    if value <= node.alpha:
        return False
    node.best_move = move
    if node.pv:
        copy_line(node.frame, move)
    if value >= node.beta:
        node.frame.cutoffs += 1
        return True
    node.alpha = value
    return False


cdef void set_continuations(Picker *picker, const Frame *frame) noexcept nogil:
    picker.continuations[0] = (frame - 1).continuation
    picker.continuations[1] = (frame - 2).continuation
    picker.continuations[2] = (frame - 4).continuation
    picker.continuations[3] = (frame - 6).continuation


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
    set_continuations(&picker, node.frame)
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


# ---- what a node teaches ----

cdef void credit_quiet(Searcher *s, const Node *node, Move move, int bonus) noexcept nogil:
    """Butterfly, low-ply and continuation histories of one quiet move."""
    cdef RichMove rich = enrich(&s.pos, move)
    cdef const Frame *frame = node.frame
    nudge(&s.histories.butterfly[s.pos.side][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    if node.ply < LOW_PLIES:
        nudge(&s.histories.low_ply[node.ply][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    credit_continuation(frame - 1, rich, bonus)
    credit_continuation(frame - 2, rich, bonus)
    credit_continuation(frame - 4, rich, bonus)
    credit_continuation(frame - 6, rich, bonus // 2)


cdef inline void credit_continuation(const Frame *earlier, RichMove rich, int bonus) noexcept nogil:
    if earlier.move:
        nudge(continuation_entry(earlier.continuation, rich), bonus, CONTINUATION_LIMIT)


cdef void teach_cut(Searcher *s, Node *node) noexcept nogil:
    """The best move is credited, those tried before it are charged."""
    cdef int i, bonus = bonus_of(node.depth), malus = -malus_of(node.depth)
    cdef Move best = node.best_move
    if is_quiet(&s.pos, best):
        credit_quiet(s, node, best, bonus)
        if node.frame.killers[0] != best:
            node.frame.killers[1] = node.frame.killers[0]
            node.frame.killers[0] = best
        for i in range(node.quiet_count):
            credit_quiet(s, node, node.quiets[i], malus)
    else:
        nudge(capture_entry(s.histories, enrich(&s.pos, best)), bonus, CAPTURE_LIMIT)
    for i in range(node.capture_count):
        nudge(capture_entry(s.histories, enrich(&s.pos, node.captures[i])), malus, CAPTURE_LIMIT)


cdef void teach_correction(Searcher *s, Node *node) noexcept nogil:
    """How far the static value was from the searched one, where the bound says something about it."""
    cdef int error = node.best_value - node.frame.static_value, bonus
    if node.in_check or decided(node.best_value) or (node.best_move and not is_quiet(&s.pos, node.best_move)):
        return
    if (error < 0 and node.best_value >= node.beta) or (error > 0 and not node.best_move):
        return
    bonus = clamp(error * node.depth // 8, -CORRECTION_LIMIT // 4, CORRECTION_LIMIT // 4)
    nudge(correction_by_hands(s), bonus, CORRECTION_LIMIT)
    nudge(correction_by_move(s, node.frame), bonus, CORRECTION_LIMIT)


cdef int close_node(Searcher *s, Node *node) noexcept nogil:
    """No legal move is a loss; otherwise learn from the result and keep it."""
    cdef int bound
    if s.stopped:
        return 0
    if node.move_count == 0:
        return node.alpha if node.frame.excluded else node.ply - MATE
    if node.best_move:
        teach_cut(s, node)
    if node.frame.excluded:
        return node.best_value
    bound = BOUND_LOWER if node.best_value >= node.beta else BOUND_EXACT if node.pv and node.best_move else BOUND_UPPER
    keep(s, node, node.best_value, bound, node.depth, node.best_move)
    teach_correction(s, node)
    return node.best_value


# ---- nodes ----

cdef void open_node(Searcher *s, Node *node, int alpha, int beta, int depth, int ply, bint cut) noexcept nogil:
    cdef Frame *frame = s.frames + FRAMES_BEHIND + ply
    node.frame = frame
    node.alpha = alpha
    node.beta = beta
    node.depth = depth if depth < MAX_DEPTH else MAX_DEPTH - 1
    node.ply = ply
    node.pv = beta - alpha > 1
    node.cut = cut
    node.in_check = in_check(&s.pos)
    node.best_value = -INFINITE
    node.best_move = NO_MOVE
    node.first_alpha = alpha
    node.move_count = 0
    node.quiet_count = 0
    node.capture_count = 0
    frame.in_check = node.in_check
    frame.pv_length = 0
    (frame + 2).cutoffs = 0
    (frame + 1).excluded = NO_MOVE
    if node.pv and ply + 1 > s.seldepth:
        s.seldepth = ply + 1


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
    """Out of check the side to move may leave all captures alone."""
    if node.in_check:
        return False
    node.best_value = node.value
    if node.best_value > node.alpha:
        node.alpha = node.best_value
    return node.best_value >= node.beta


cdef inline bint too_quiet(Searcher *s, Node *node, Move move) noexcept nogil:
    """A capture that cannot lift the static value to alpha, or that loses material."""
    cdef int hope
    if node.best_value <= -MATE_BOUND:
        return False
    if node.in_check:
        return node.move_count > 3 and is_quiet(&s.pos, move) and not see_at_least(&s.pos, move, 0)
    if not gives_check(&s.pos, &node.check, move):
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
    set_continuations(&picker, node.frame)
    while True:
        move = next_move(&picker)
        if not move:
            break
        node.move_count += 1
        if too_quiet(s, node, move):
            continue
        s.free_moves = picker.end
        make_move(s, node.frame, move, enrich(&s.pos, move))
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

cdef void prepare(Searcher *s, int depth, int alpha, int beta) noexcept nogil:
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
    s.root_window = beta - alpha
    s.seldepth = 0
    s.null_from = 0
    s.free_moves = s.move_memory


cdef void record(Searcher *s, Node *node, RootMove *root, int value) noexcept nogil:
    """What the root learned of a move; one that neither came first nor beat alpha says nothing but that it is not better."""
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
    prepare(s, depth, alpha, beta)
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
