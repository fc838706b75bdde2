"""The steps of a node that neither select nor search: initialisation, end of the game, transposition table, static
value, moves and their results, at the root too."""

from libc.string cimport memcpy

from core_ext.base.arithmetic cimport clamp
from core_ext.base.atomic cimport add_to_word, load_word
from core_ext.base.stop cimport next_check, past_deadline, stop_requested
from core_ext.eval.evaluate cimport evaluate
from core_ext.mate.mate_in_one cimport mate_in_one
from core_ext.search.correction cimport correction_value, prefetch_continuation_corrections, prefetch_corrections
from core_ext.search.movepick cimport Picker, next_move, peek_move
from core_ext.search.searcher cimport (
    Candidate, Node, RootMove, STACK_OFFSET, Sample, Samples, Searcher, Stack, TRIED_MOVES,
)
from core_ext.search.tt cimport (
    BOUND_EXACT, BOUND_LOWER, BOUND_UPPER, tt_prefetch, tt_probe, tt_store, value_from_table, value_to_table,
)
from core_ext.search.tune cimport tune
from core_ext.shogi.movegen cimport gives_check, has_legal_move, is_legal
from core_ext.shogi.position cimport (
    can_declare, do_move, do_null, find_repetition, full_key, has_tried, in_check, is_quiet, key_after,
    key_after_null, NO_REPETITION, REPETITION_DRAW, REPETITION_LOSS, REPETITION_SUPERIOR, REPETITION_WIN, RULE_TRY,
    to_move32, try_move,
)
from core_ext.shogi.types cimport *

# ---- make a move ----

cdef inline void push_move(Searcher *s, Stack *ss, Move move, Move32 move32) noexcept nogil:
    ss.move = move32
    ss.continuation = &s.histories.continuation[placed_piece(move32)][to_square(move32)]
    ss.correction = &s.histories.move_correction[placed_piece(move32)][to_square(move32)]
    tt_prefetch(s.table, key_after(&s.pos, move32))
    prefetch_continuation_corrections(ss, move32)
    do_move(&s.pos, move)
    prefetch_corrections(s, ss + 1)
    add_to_word(&s.nodes, 1)


cdef inline void prefetch_next(const Searcher *s, const Node *node, Picker *picker) noexcept nogil:
    """Prefetch the TT entry of the next move while this one is searched, unless this one will most likely cut."""
    cdef Move move
    if node.cut and node.move_count == 1:
        return
    move = peek_move(picker)
    if move:
        tt_prefetch(s.table, key_after(&s.pos, to_move32(&s.pos, move)))


cdef inline void push_null(Searcher *s, Stack *ss) noexcept nogil:
    """Make a null move; it does not count as a node."""
    ss.move = NULL_MOVE
    ss.continuation = &s.histories.continuation[0][0]
    ss.correction = &s.histories.move_correction[0][0]
    tt_prefetch(s.table, key_after_null(&s.pos))
    do_null(&s.pos)


# ---- start of a node ----

cdef inline bint check_stop(Searcher *s) noexcept nogil:
    """Update and return s.stopped. The stop flag is read at every node, the clock once per CHECK_INTERVAL nodes."""
    if stop_requested(s.stop) or (load_word(&s.nodes) >= s.next_check and check_limits(s)):
        s.stopped = True
    return s.stopped


cdef inline bint check_limits(Searcher *s) noexcept nogil:
    """Set the node count of the next check; return whether the node limit or the deadline is reached."""
    cdef uint64_t nodes = load_word(&s.nodes)
    s.next_check = next_check(nodes, s.node_limit)
    return (s.node_limit and nodes >= s.node_limit) or past_deadline(s.stop)


cdef inline bint follows_pv(const Searcher *s, const Stack *ss, int ply) noexcept nogil:
    if ply == 0:
        return True
    return (ss - 1).follows_pv and ply <= s.last_pv_length and <Move>(ss - 1).move == s.last_pv[ply - 1]


cdef inline void init_node(const Searcher *s, Node *node, int alpha, int beta, int depth, int ply,
                           bint cut) noexcept nogil:
    node.ss = <Stack *>s.stack + STACK_OFFSET + ply
    node.alpha = alpha
    node.beta = beta
    node.depth = depth if depth < MAX_DEPTH else MAX_DEPTH - 1      # TT entries of mates have MAX_DEPTH
    node.ply = ply
    node.pv = beta - alpha > 1
    node.cut = cut
    node.all = not (node.pv or cut)
    node.in_check = in_check(&s.pos)
    node.prior_reduction = (node.ss - 1).reduction
    node.best_value = -INFINITE
    node.best_move = NO_MOVE
    node.move_count = node.quiet_count = node.capture_count = 0


cdef inline void enter_node(Searcher *s, const Node *node) noexcept nogil:
    """Reset the stack of the node's ply and what the plies around it keep for it; extend seldepth."""
    cdef Stack *ss = node.ss
    ss.in_check = node.in_check
    ss.follows_pv = follows_pv(s, ss, node.ply)
    ss.move_count = ss.history = ss.pv_length = 0
    (ss - 1).reduction = 0
    (ss + 1).excluded = NO_MOVE
    (ss + 2).cutoffs = 0
    if node.pv and node.ply + 1 > s.seldepth:
        s.seldepth = node.ply + 1


cdef inline int draw_value(const Searcher *s) noexcept nogil:
    return s.draw_value[s.pos.side]


# ---- end of the game ----

cdef inline int value_by_hand(const Node *node, int repetition) noexcept nogil:
    """Return a bound if the board recurs below the root and one side has fewer pieces in hand than before.

    That side has only lost pieces: return beta if it is the opponent, alpha if it is the side to move. Return NO_VALUE
    if that bound is still open, because no other move has a value yet.
    """
    if repetition == REPETITION_SUPERIOR:
        return node.beta if node.beta < MATE - node.ply else NO_VALUE
    return node.alpha if node.alpha > node.ply - MATE else NO_VALUE


cdef inline int repetition_value(Searcher *s, const Node *node) noexcept nogil:
    """Return the value of a repetition, by rule or as a bound, or NO_VALUE."""
    cdef int repetition = find_repetition(&s.pos, s.pos.state.since_null)
    if repetition == NO_REPETITION:
        return NO_VALUE
    if repetition == REPETITION_DRAW:
        return draw_value(s)
    if repetition == REPETITION_WIN:
        return WIN_BY_RULE - node.ply
    if repetition == REPETITION_LOSS:
        return node.ply - WIN_BY_RULE
    if find_repetition(&s.pos, node.ply) != repetition:
        return NO_VALUE
    return value_by_hand(node, repetition)


cdef inline int game_end_value(Searcher *s, const Node *node) noexcept nogil:
    """Return the value if a try, a repetition, a declaration or the move limit ends the game, else NO_VALUE."""
    cdef int value
    if s.declaration == RULE_TRY and has_tried(&s.pos, s.pos.side ^ 1):     # only after a root move
        return node.ply - DECLARATION
    value = repetition_value(s, node)
    if value != NO_VALUE:
        return value
    if s.declaration and can_declare(&s.pos, s.declaration):
        return DECLARATION - node.ply - 1
    if 0 < s.max_moves < s.pos.ply:     # a mate on the last move still wins
        return draw_value(s) if has_legal_move(&s.pos) else node.ply - MATE
    if s.declaration == RULE_TRY and try_move(&s.pos) != NO_MOVE:
        return DECLARATION - node.ply - 1
    return NO_VALUE


# ---- transposition table and static value ----

cdef inline void probe_table(Searcher *s, Node *node) noexcept nogil:
    """Fill in node.tt. An illegal hash move (from another position with the same key) is dropped."""
    tt_probe(s.table, full_key(&s.pos), &node.tt)
    node.tt_value = NO_VALUE
    node.ss.tt_hit = node.tt.hit
    if node.tt.hit:
        if node.tt.bound:
            node.tt_value = value_from_table(node.tt.value, node.ply)
        if node.tt.move and not is_legal(&s.pos, node.tt.move):
            node.tt.move = NO_MOVE
    node.tt_capture = node.tt.move != NO_MOVE and not is_quiet(&s.pos, node.tt.move)
    if not node.ss.excluded:
        node.ss.on_pv = node.pv or (node.tt.hit and node.tt.on_pv)


cdef inline void store_node(Searcher *s, const Node *node, int value, int bound, int depth, Move move) noexcept nogil:
    tt_store(s.table, full_key(&s.pos), move, value_to_table(value, node.ply), node.raw_value, depth, bound,
             node.ss.on_pv)


cdef inline Move find_mate(Searcher *s, const Node *node) noexcept nogil:
    """Return a mate in one, or NO_MOVE. Not tried after a TT hit: it was tried when the entry was stored."""
    if not tune.mate_in_one or node.in_check or node.tt.hit or node.ss.excluded:
        return NO_MOVE
    return mate_in_one(&s.pos)


cdef inline int mate_node(Searcher *s, Node *node, Move move) noexcept nogil:
    """Store a node with a mate in one; return its value."""
    node.raw_value = NO_VALUE
    node.best_value = MATE - node.ply - 1
    store_node(s, node, node.best_value, BOUND_EXACT, MAX_DEPTH, move)
    if node.pv:
        node.ss.pv[0] = move
        node.ss.pv_length = 1
    return node.best_value


cdef inline void set_static_value(Searcher *s, Node *node) noexcept nogil:
    """Set the static value (evaluation plus correction) and `value`, which the TT value may replace."""
    cdef Stack *ss = node.ss
    # Quiescence does not need it in check.
    cdef int error = correction_value(s, ss) if node.depth > 0 or not node.in_check else 0
    node.error = error if error > 0 else -error
    node.raw_value = node.tt.static_value if node.tt.hit and not node.in_check else NO_VALUE
    if node.in_check:
        ss.static_value = node.value = (ss - 2).static_value
        node.improving = node.opponent_worsening = False
        return
    if node.raw_value == NO_VALUE:
        node.raw_value = evaluate(s.evaluator, &s.pos)
    ss.static_value = node.value = clamp(node.raw_value + error, -MAX_EVALUATION, MAX_EVALUATION)
    # In a singular search the TT bound is that of the excluded move.
    if node.tt.bound and not ss.excluded and (node.depth > 0 or not is_decisive(node.tt_value)):
        if node.tt.bound & (BOUND_LOWER if node.tt_value > node.value else BOUND_UPPER):
            node.value = node.tt_value
    node.improving = ss.static_value > (ss - 2).static_value
    node.opponent_worsening = ss.static_value > -(ss - 1).static_value


cdef inline bint copy_line(const Searcher *s, int ply, Sample *sample) noexcept nogil:
    """Copy the moves of the search stack up to `ply`. Return False if one of them is a null move."""
    cdef int i
    cdef Move move
    for i in range(ply):
        move = <Move>s.stack[STACK_OFFSET + i].move
        if move == NULL_MOVE:
            return False
        sample.moves[i] = move
    sample.length = ply
    return True


cdef inline bint has_stored_value(const Node *node) noexcept nogil:
    """Return whether the static value comes from the TT."""
    return node.tt.hit and node.tt.static_value != NO_VALUE


cdef inline void sample_position(Searcher *s, const Node *node) noexcept nogil:
    """If the node was evaluated, count it, and store its line if it is the next to be sampled, for learning."""
    cdef Samples *samples = &s.samples
    if not samples.every or samples.count >= samples.room or node.in_check or has_stored_value(node):
        return
    samples.left -= 1
    if samples.left <= 0:
        samples.left = samples.every
        samples.count += copy_line(s, node.ply, &samples.sample[samples.count])


# ---- moves ----

cdef inline Move take_move(Searcher *s, Picker *picker) noexcept nogil:
    """Return the next move or NO_MOVE. The nodes below use the memory behind the moves until close_picker."""
    cdef Move move = next_move(picker)
    s.free_moves = picker.last_end
    return move


cdef inline void close_picker(Searcher *s, const Picker *picker) noexcept nogil:
    s.free_moves = picker.start


cdef inline void init_candidate(Searcher *s, const Node *node, Move move, Candidate *candidate) noexcept nogil:
    candidate.move = move
    candidate.move32 = to_move32(&s.pos, move)
    candidate.quiet = is_quiet32(candidate.move32)
    candidate.checks = gives_check(&node.check_info, candidate.move32)
    candidate.depth = node.depth - 1
    candidate.extension = 0


cdef inline void add_tried_move(Node *node, const Candidate *candidate) noexcept nogil:
    if node.move_count > TRIED_MOVES:
        return
    if candidate.quiet:
        node.quiets[node.quiet_count] = candidate.move
        node.quiet_count += 1
    else:
        node.captures[node.capture_count] = candidate.move
        node.capture_count += 1


cdef inline void set_picker_histories(Picker *picker, const Stack *ss) noexcept nogil:
    picker.pawn_history = ss.pawn_history
    picker.continuations[0] = (ss - 1).continuation
    picker.continuations[1] = (ss - 2).continuation
    picker.continuations[2] = (ss - 3).continuation
    picker.continuations[3] = (ss - 4).continuation
    picker.continuations[4] = (ss - 6).continuation


# ---- result ----

cdef inline void update_pv(Stack *ss, Move move) noexcept nogil:
    cdef Stack *child = ss + 1
    ss.pv[0] = move
    memcpy(ss.pv + 1, child.pv, child.pv_length * sizeof(Move))
    ss.pv_length = child.pv_length + 1


cdef inline bint update_best(Node *node, Move move, int value) noexcept nogil:
    """Raise best value, alpha and PV to a move's value; return whether it reaches beta."""
    if value <= node.best_value:
        return False
    node.best_value = value
    if value <= node.alpha:
        return False
    node.best_move = move
    if node.pv:
        update_pv(node.ss, move)
    if value >= node.beta:
        return True
    node.alpha = value
    return False


cdef inline int bound_of(const Node *node) noexcept nogil:
    if node.best_value >= node.beta:
        return BOUND_LOWER
    return BOUND_EXACT if node.pv and node.best_move else BOUND_UPPER


cdef inline void inherit_on_pv(Node *node) noexcept nogil:
    """Count a node as on the PV after a fail low if its parent counts so (Stockfish)."""
    node.ss.on_pv = node.ss.on_pv or (node.ss - 1).on_pv


cdef inline int value_without_moves(Node *node) noexcept nogil:
    """Return a loss; a singular search without other moves fails low instead."""
    if not node.ss.excluded:
        return node.ply - MATE
    inherit_on_pv(node)
    return node.alpha


# ---- root moves ----

cdef inline void update_root_move(Searcher *s, Node *node, RootMove *root, int value) noexcept nogil:
    """Store the result of a root move. A later move that does not beat alpha has only a bound: no value."""
    if node.move_count > 1 and value <= node.alpha:
        root.value = -INFINITE
        return
    root.value = value
    root.bound = BOUND_UPPER if value <= node.alpha else BOUND_LOWER if value >= node.beta else BOUND_EXACT
    root.seldepth = s.seldepth
    root.pv[0] = root.move
    memcpy(root.pv + 1, (node.ss + 1).pv, (node.ss + 1).pv_length * sizeof(Move))
    root.pv_length = (node.ss + 1).pv_length + 1


cdef inline void sort_root_moves(Searcher *s, int first) noexcept nogil:
    """Sort by value, best first. The sort is stable: moves without a value (-INFINITE) keep their order."""
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


cdef inline RootMove *find_root_move(Searcher *s, int first, Move move) noexcept nogil:
    """Return NULL if the move is not in the list from `first` on."""
    cdef int i
    for i in range(first, s.root_count):
        if s.roots[i].move == move:
            return s.roots + i
    return NULL
