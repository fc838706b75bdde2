"""What happens at a node beside the rules and the recursion: its start, its end by the rules of the game, the table,
its moves.
"""

from libc.string cimport memcpy

from core_ext.eval.evaluate cimport evaluate
from core_ext.base.stop cimport next_check, past_deadline, stop_requested
from core_ext.search.history cimport capture_entry
from core_ext.mate.mate_in_one cimport mate_in_one
from core_ext.shogi.movegen cimport gives_check, has_legal_move, is_legal
from core_ext.search.movepick cimport Picker, is_quiet
from core_ext.shogi.position cimport (
    NO_REPETITION, REPETITION_DRAW, REPETITION_LOSS, REPETITION_SUPERIOR, REPETITION_WIN, RULE_TRY, can_declare,
    do_move, do_null, to_move32, find_repetition, full_key, in_check, key_after, try_move,
)
from core_ext.search.pruning cimport corrected, decided, quiet_history, shape_table
from core_ext.search.stack cimport Candidate, FRAMES_BEHIND, Frame, Node, Searcher, TRIED_MOVES
from core_ext.search.tt cimport (
    BOUND_EXACT, BOUND_LOWER, BOUND_UPPER, prefetch_entry, probe, store, value_from_table, value_to_table,
)
from core_ext.search.tune cimport MATE_IN_ONE, tune
from core_ext.shogi.types cimport (
    INFINITE, MATE, MAX_DEPTH, Move, NO_MOVE, NO_VALUE, NULL_MOVE, Move32, placed_piece, to_square,
)

cdef enum:
    WIN_BY_RULE = 30000         # the opponent gives perpetual check: won unless it deviates, so not a mate
    SUPERIOR_VALUE = 28000      # the same board came before with less in hand


# ---- moving along the line ----

cdef inline void make_move(Searcher *s, Frame *frame, Move move, Move32 move32) noexcept nogil:
    frame.move = move32
    frame.continuation = &s.histories.continuation[placed_piece(move32)][to_square(move32)]
    prefetch_entry(s.table, key_after(&s.pos, move32))
    do_move(&s.pos, move)
    s.nodes += 1


cdef inline void make_null(Searcher *s, Frame *frame) noexcept nogil:
    frame.move = NULL_MOVE
    frame.continuation = &s.histories.continuation[0][0]
    do_null(&s.pos)
    prefetch_entry(s.table, full_key(&s.pos))


cdef inline bint must_stop(Searcher *s) noexcept nogil:
    if stop_requested(s.stop) or (s.nodes >= s.next_check and out_of_time(s)):
        s.stopped = True
    return s.stopped


cdef inline bint out_of_time(Searcher *s) noexcept nogil:
    """Whether the nodes or the clock have run out; else says when to look again."""
    s.next_check = next_check(s.nodes, s.node_limit)
    return (s.node_limit and s.nodes >= s.node_limit) or past_deadline(s.stop)


cdef inline void copy_line(Frame *frame, Move move) noexcept nogil:
    """This node's principal variation: the move, then the child's."""
    cdef Frame *child = frame + 1
    frame.pv[0] = move
    memcpy(frame.pv + 1, child.pv, child.pv_length * sizeof(Move))
    frame.pv_length = child.pv_length + 1


cdef inline void open_node(Searcher *s, Node *node, int alpha, int beta, int depth, int ply, bint cut) noexcept nogil:
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
    frame.pv_length = 0
    frame.shape = shape_table(s)
    (frame + 2).cutoffs = 0
    (frame + 1).excluded = NO_MOVE
    if node.pv and ply + 1 > s.seldepth:
        s.seldepth = ply + 1


cdef inline int draw_value(const Searcher *s) noexcept nogil:
    return s.draw_value[s.pos.side]


# ---- the end of the game ----

cdef inline bint repetition_value(Searcher *s, int ply, int *value) noexcept nogil:
    """A position that came before: judged as if it were played out. Better or worse hands count only within the
    search.
    """
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


cdef inline bint game_over(Searcher *s, int ply, int *value) noexcept nogil:
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


# ---- the table and the static value ----

cdef inline void look_up(Searcher *s, Node *node) noexcept nogil:
    """What the table knows; a hash move that is not legal here belongs to another position with the same key."""
    probe(s.table, full_key(&s.pos), &node.hash)
    node.hash_value = NO_VALUE
    if node.hash.hit:
        node.hash_value = value_from_table(node.hash.value, node.ply)
        if node.hash.move and not is_legal(&s.pos, node.hash.move):
            node.hash.move = NO_MOVE
    node.hash_capture = node.hash.move != NO_MOVE and not is_quiet(&s.pos, node.hash.move)
    node.frame.on_pv = node.pv or (node.hash.hit and node.hash.on_pv)


cdef inline void keep(Searcher *s, const Node *node, int value, int bound, int depth, Move move) noexcept nogil:
    store(s.table, full_key(&s.pos), move, value_to_table(value, node.ply), node.raw_value, depth, bound,
          node.frame.on_pv)


cdef inline bint finds_mate(Searcher *s, Node *node) noexcept nogil:
    """A mate in one move ends the node; the table keeps it."""
    cdef Move move
    if not tune[MATE_IN_ONE] or node.in_check or node.hash.hit:
        return False
    move = mate_in_one(&s.pos)
    if not move:
        return False
    node.raw_value = NO_VALUE
    node.best_value = MATE - node.ply - 1
    keep(s, node, node.best_value, BOUND_EXACT, MAX_DEPTH, move)
    if node.pv:
        node.frame.pv[0] = move
        node.frame.pv_length = 1
    return True


cdef inline bint improves(const Frame *frame) noexcept nogil:
    """Better than two plies ago (four, where that was in check)."""
    if (frame - 2).static_value != NO_VALUE:
        return frame.static_value > (frame - 2).static_value
    if (frame - 4).static_value != NO_VALUE:
        return frame.static_value > (frame - 4).static_value
    return True


cdef inline void set_static_value(Searcher *s, Node *node) noexcept nogil:
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


# ---- moves ----

cdef inline void describe(Searcher *s, const Node *node, Move move, Candidate *candidate) noexcept nogil:
    candidate.move = move
    candidate.move32 = to_move32(&s.pos, move)
    candidate.quiet = is_quiet(&s.pos, move)
    candidate.checks = gives_check(&s.pos, &node.check, move)
    candidate.killer = move == node.frame.killers[0] or move == node.frame.killers[1]
    candidate.extension = 0
    if candidate.quiet:
        candidate.history = quiet_history(s, node.frame, candidate)
    else:
        candidate.history = capture_entry(s.histories, candidate.move32)[0]


cdef inline void remember_tried(Node *node, const Candidate *move) noexcept nogil:
    if move.quiet and node.quiet_count < TRIED_MOVES:
        node.quiets[node.quiet_count] = move.move
        node.quiet_count += 1
    elif not move.quiet and node.capture_count < TRIED_MOVES:
        node.captures[node.capture_count] = move.move
        node.capture_count += 1


cdef inline bint accept(Node *node, Move move, int value) noexcept nogil:
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


cdef inline void set_histories(Picker *picker, const Frame *frame) noexcept nogil:
    picker.shape = frame.shape
    picker.continuations[0] = (frame - 1).continuation
    picker.continuations[1] = (frame - 2).continuation
    picker.continuations[2] = (frame - 4).continuation
    picker.continuations[3] = (frame - 6).continuation
