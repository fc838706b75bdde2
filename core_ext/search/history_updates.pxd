"""Which histories a finished node updates, and by how much. (The forms are Stockfish's, the numbers are ours.)"""

from core_ext.search.history cimport (
    BUTTERFLY_LIMIT, CAPTURE_LIMIT, CONTINUATION_LIMIT, CONTINUATION_START, LOW_PLIES, PAWN_HISTORY_LIMIT,
    capture_entry, move_slot, piece_to_entry, step_to, update_entry,
)
from core_ext.search.movepick cimport is_quiet
from core_ext.search.stack cimport Node, Searcher, Stack, clamp
from core_ext.search.tune cimport tune
from core_ext.shogi.position cimport to_move32
from core_ext.shogi.types cimport Move, Move32, NO_MOVE, NULL_MOVE, captured_piece, int16_t


cdef inline int history_bonus(int depth) noexcept nogil:
    """For the move that caused a cutoff."""
    return clamp(tune.bonus_slope * depth - tune.bonus_offset, 0, tune.bonus_limit)


cdef inline int history_malus(int depth) noexcept nogil:
    """For the moves searched before it, to be subtracted."""
    return clamp(tune.malus_slope * depth - tune.malus_offset, 0, tune.malus_limit)


cdef inline void update_continuation(const Stack *earlier, Move32 move32, int bonus) noexcept nogil:
    cdef int16_t *entry = piece_to_entry(earlier.continuation, move32)
    if earlier.move:
        entry[0] += <int16_t>step_to(entry[0] + CONTINUATION_START, bonus, CONTINUATION_LIMIT)


cdef inline void update_quiet_histories(Searcher *s, const Node *node, Move move, int bonus) noexcept nogil:
    """Butterfly, low-ply, pawn and continuation history of one quiet move."""
    cdef Move32 move32 = to_move32(&s.pos, move)
    cdef const Stack *ss = node.ss
    update_entry(&s.histories.butterfly[s.pos.side][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    if node.ply < LOW_PLIES:
        update_entry(&s.histories.low_ply[node.ply][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    update_entry(piece_to_entry(ss.pawn_history, move32), bonus, PAWN_HISTORY_LIMIT)
    update_continuation(ss - 1, move32, bonus)
    update_continuation(ss - 2, move32, bonus)
    update_continuation(ss - 4, move32, bonus)
    update_continuation(ss - 6, move32, bonus // 2)


cdef inline void update_capture_history(Searcher *s, Move move, int bonus) noexcept nogil:
    update_entry(capture_entry(s.histories, to_move32(&s.pos, move)), bonus, CAPTURE_LIMIT)


cdef inline void update_killers(Stack *ss, Move move) noexcept nogil:
    if ss.killers[0] != move:
        ss.killers[1] = ss.killers[0]
        ss.killers[0] = move


cdef inline void update_histories(Searcher *s, Node *node) noexcept nogil:
    """A bonus for the best move, a malus for those searched before it."""
    cdef int i, bonus = history_bonus(node.depth), malus = -history_malus(node.depth)
    if is_quiet(&s.pos, node.best_move):
        update_quiet_histories(s, node, node.best_move, bonus)
        update_killers(node.ss, node.best_move)
        for i in range(node.quiet_count):
            update_quiet_histories(s, node, node.quiets[i], malus)
    else:
        update_capture_history(s, node.best_move, bonus)
    for i in range(node.capture_count):
        update_capture_history(s, node.captures[i], malus)


cdef inline void update_prior_move(Searcher *s, const Node *node) noexcept nogil:
    """The prior-move bonus: no move reached alpha, so the quiet move that led here was good."""
    cdef const Stack *prior = node.ss - 1
    cdef Move32 move32 = prior.move
    cdef int bonus = history_bonus(node.depth) * tune.prior_bonus // 100
    if move32 == NO_MOVE or move32 == NULL_MOVE or captured_piece(move32) or bonus <= 0:
        return
    update_entry(&s.histories.butterfly[1 - s.pos.side][move_slot(<Move>move32)], bonus, BUTTERFLY_LIMIT)
    update_entry(piece_to_entry(prior.pawn_history, move32), bonus, PAWN_HISTORY_LIMIT)
    update_continuation(prior - 1, move32, bonus)
    update_continuation(prior - 2, move32, bonus)


cdef inline void update_after_lmr(const Node *node, Move32 move32, int depth, int value) noexcept nogil:
    """The post-LMR bonus: the value of the full-depth search after a reduced one, where it is outside the window."""
    cdef int bonus
    if value <= node.alpha:
        bonus = -history_malus(depth)
    elif value >= node.beta:
        bonus = history_bonus(depth)
    else:
        return
    bonus = bonus * tune.post_lmr_bonus // 100
    update_continuation(node.ss - 1, move32, bonus)
    update_continuation(node.ss - 2, move32, bonus)
    update_continuation(node.ss - 4, move32, bonus)


cdef inline void update_after_tt_cutoff(Searcher *s, const Node *node) noexcept nogil:
    """The table's quiet move, where it cuts the node without a search, gets a share of the bonus."""
    cdef int bonus = history_bonus(node.depth) * tune.hash_cut_bonus // 100
    if bonus > 0 and node.tt.move and not node.tt_capture and node.tt_value >= node.beta:
        update_quiet_histories(s, node, node.tt.move, bonus)
