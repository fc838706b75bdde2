"""Which histories a node updates, and by how much: forms and numbers as in YaneuraOu 9.70, which has them from
Stockfish. Numbers that stand here, and not in tune.h, weigh the parts of an update against each other."""

from core_ext.search.history cimport (
    BUTTERFLY_LIMIT, HASH_MOVE_LIMIT, LOW_PLIES, move_slot, update_capture, update_continuation_entry, update_entry,
    update_low_ply, update_pawn_history,
)
from core_ext.search.movepick cimport is_quiet
from core_ext.search.stack cimport Node, Searcher, Stack, clamp
from core_ext.search.tune cimport tune
from core_ext.shogi.position cimport to_move32
from core_ext.shogi.types cimport (
    Move, Move32, NO_MOVE, NULL_MOVE, PAWN, captured_piece, is_promotion, placed_piece, type_of,
)


cdef inline bint is_move(Move32 move32) noexcept nogil:
    return move32 != NO_MOVE and move32 != NULL_MOVE


cdef inline bint is_quiet_piece(Move32 move32) noexcept nogil:
    """Neither of a pawn nor a promotion. Of a move that does not capture: it leaves the pawn structure as it was."""
    return type_of(placed_piece(move32)) != PAWN and not is_promotion(move32)


cdef inline int history_malus(int depth) noexcept nogil:
    """For the moves searched before the one that cut, to be subtracted."""
    return clamp(tune.malus_slope * depth - tune.malus_offset, 0, tune.malus_limit)


cdef inline int history_bonus(const Node *node) noexcept nogil:
    """For the best move: more where the table expected it, and where the move before had a good history."""
    return (clamp(tune.bonus_slope * node.depth - tune.bonus_offset, 0, tune.bonus_limit)
            + tune.bonus_hash_move * (node.best_move == node.tt.move) + (node.ss - 1).history // 32)


cdef inline void update_continuation(const Stack *earlier, Move32 move32, int bonus) noexcept nogil:
    if is_move(earlier.move):
        update_continuation_entry(earlier.continuation, move32, bonus)


cdef inline void update_continuations(const Stack *ss, Move32 move32, int bonus) noexcept nogil:
    """After the moves 1 to 6 plies before `ss`; in check only the last two."""
    update_continuation(ss - 1, move32, bonus * 1157 // 1024 + 88)
    update_continuation(ss - 2, move32, bonus * 648 // 1024)
    if ss.in_check:
        return
    update_continuation(ss - 3, move32, bonus * 288 // 1024)
    update_continuation(ss - 4, move32, bonus * 576 // 1024)
    update_continuation(ss - 5, move32, bonus * 140 // 1024)
    update_continuation(ss - 6, move32, bonus * 441 // 1024)


cdef inline void update_quiet_histories(Searcher *s, const Node *node, Move move, int bonus) noexcept nogil:
    """Butterfly, low-ply, pawn and continuation history of one quiet move."""
    cdef Move32 move32 = to_move32(&s.pos, move)
    update_entry(&s.histories.butterfly[s.pos.side][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    if node.ply < LOW_PLIES:
        update_low_ply(s.histories, node.ply, move, bonus * 761 // 1024)
    update_pawn_history(node.ss.pawn_history, move32, bonus * (850 if bonus > 0 else 550) // 1024)
    update_continuations(node.ss, move32, bonus * 955 // 1024)


cdef inline void update_capture_history(Searcher *s, Move move, int bonus) noexcept nogil:
    update_capture(s.histories, to_move32(&s.pos, move), bonus)


cdef inline void update_quiets(Searcher *s, const Node *node, int bonus, int malus) noexcept nogil:
    """The best move is quiet; the later the others were searched, the less their malus."""
    cdef int i
    update_quiet_histories(s, node, node.best_move, bonus * tune.quiet_bonus // 1024)
    malus = malus * tune.quiet_malus // 1024
    for i in range(node.quiet_count):
        malus = malus * tune.malus_decay // 1024
        update_quiet_histories(s, node, node.quiets[i], -malus)


cdef inline void update_histories(Searcher *s, const Node *node) noexcept nogil:
    """A bonus for the best move, a malus for those searched before it, and for an early move of the opponent's that
    it refutes."""
    cdef int i, bonus = history_bonus(node), malus = history_malus(node.depth)
    cdef const Stack *prior = node.ss - 1
    if is_quiet(&s.pos, node.best_move):
        update_quiets(s, node, bonus, malus)
    else:
        update_capture_history(s, node.best_move, bonus * tune.capture_bonus // 1024)
    if is_move(prior.move) and not captured_piece(prior.move) and prior.move_count == 1 + prior.tt_hit:
        update_continuations(prior, prior.move, -malus * tune.refuted_malus // 1024)
    for i in range(node.capture_count):
        update_capture_history(s, node.captures[i], -malus * tune.capture_malus // 1024)


cdef inline void update_hash_move_history(Searcher *s, const Node *node) noexcept nogil:
    """Whether the table's move was the best one, off the principal variation."""
    if not node.pv:
        update_entry(&s.histories.hash_move,
                     tune.hash_move_bonus if node.best_move == node.tt.move else -tune.hash_move_malus, HASH_MOVE_LIMIT)


cdef inline void punish_hash_move(Searcher *s, const Node *node) noexcept nogil:
    """Other moves cut the node as well (multi-cut)."""
    update_entry(&s.histories.hash_move, -clamp(424 + 107 * node.depth, 0, 3375), HASH_MOVE_LIMIT)


cdef inline int prior_bonus(const Node *node) noexcept nogil:
    """More the deeper the search, the later the move and the further the values fall short of the static ones."""
    cdef const Stack *prior = node.ss - 1
    cdef int scale = -232 - prior.history // 108
    scale += clamp(59 * node.depth, 0, 454)
    scale += 169 * (prior.move_count > 8)
    scale += 145 * (not node.in_check and node.best_value <= node.ss.static_value - 110)
    scale += 154 * (not prior.in_check and node.best_value <= -prior.static_value - 73)
    return clamp(135 * node.depth - 80, 0, 1400) * clamp(scale, 0, 4096)


cdef inline void update_prior_move(Searcher *s, const Node *node) noexcept nogil:
    """No move reached alpha, so the move that led here was good."""
    cdef const Stack *prior = node.ss - 1
    cdef Move32 move32 = prior.move
    cdef int bonus
    if not is_move(move32):
        return
    if captured_piece(move32):
        update_capture(s.histories, move32, 1018)
        return
    bonus = prior_bonus(node)
    update_continuations(prior, move32, bonus * 221 // 16384)
    update_entry(&s.histories.butterfly[1 - s.pos.side][move_slot(<Move>move32)], bonus * 235 // 32768, BUTTERFLY_LIMIT)
    if is_quiet_piece(move32):
        update_pawn_history(node.ss.pawn_history, move32, bonus * 290 // 8192)


cdef inline void update_by_gain(Searcher *s, const Node *node) noexcept nogil:
    """The quiet move that led here, by what it changed in static value for its side."""
    cdef const Stack *prior = node.ss - 1
    cdef Move32 move32 = prior.move
    cdef int gain
    if not is_move(move32) or captured_piece(move32) or prior.in_check:
        return
    gain = clamp(-(prior.static_value + node.ss.static_value), -214, 171) + 60
    update_entry(&s.histories.butterfly[1 - s.pos.side][move_slot(<Move>move32)], gain * tune.gain_main,
                 BUTTERFLY_LIMIT)
    if not node.tt.hit and is_quiet_piece(move32):
        update_pawn_history(node.ss.pawn_history, move32, gain * tune.gain_pawn)


cdef inline void update_after_tt_cutoff(Searcher *s, const Node *node) noexcept nogil:
    """The table's move, where it cuts the node without a search; a malus for an early quiet move before it."""
    cdef const Stack *prior = node.ss - 1
    if not node.tt.move or node.tt_value < node.beta:
        return
    if not node.tt_capture:
        update_quiet_histories(s, node, node.tt.move,
                               clamp(tune.hash_cut_slope * node.depth - 71, 0, tune.hash_cut_limit))
    if is_move(prior.move) and prior.move_count <= 4 and not captured_piece(prior.move):
        update_continuations(prior, prior.move, -tune.hash_cut_malus)
