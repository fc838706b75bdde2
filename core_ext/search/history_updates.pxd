"""History updates of a node: which entries, and by how much. Forms and values follow YaneuraOu 9.70 and, through it,
Stockfish. tune.h has the overall sizes; the constants here weigh the parts of an update against each other."""

from core_ext.base.arithmetic cimport clamp
from core_ext.search.history cimport (
    continuation_value, HASH_MOVE_LIMIT, LOW_PLIES, pawn_history, update_butterfly, update_capture,
    update_continuation_entry, update_entry, update_low_ply, update_pawn_history,
)
from core_ext.search.searcher cimport Node, Searcher, Stack
from core_ext.search.tune cimport tune
from core_ext.shogi.position cimport is_quiet, to_move32
from core_ext.shogi.types cimport *

# Shares of a quiet move's bonus, in 1/1024.
cdef enum:
    LOW_PLY_SHARE = 761
    PAWN_BONUS_SHARE = 850
    PAWN_MALUS_SHARE = 550
    CONTINUATION_SHARE = 955

# Shares of a continuation bonus by the number of plies back, in 1/1024.
cdef enum:
    SHARE_1 = 1157
    OFFSET_1 = 88               # added to the first share, whatever the bonus
    SHARE_2 = 648
    SHARE_3 = 288
    SHARE_4 = 576
    SHARE_5 = 140
    SHARE_6 = 441

# Malus for the hash move after a multi-cut.
cdef enum:
    MULTI_CUT_BASE = 424
    MULTI_CUT_SLOPE = 107       # per ply of depth
    MULTI_CUT_LIMIT = 3375

# Bonus for the move that led to a fail low.
cdef enum:
    PRIOR_SLOPE = 135           # per ply of depth
    PRIOR_OFFSET = 80
    PRIOR_LIMIT = 1400
    # Scale of the bonus, a sum:
    SCALE_BASE = -232
    SCALE_HISTORY = 108         # divisor of the move's history score
    SCALE_SLOPE = 59            # per ply of depth
    SCALE_DEPTH_LIMIT = 454
    SCALE_LATE = 169            # for a move after LATE_MOVE
    LATE_MOVE = 8
    SCALE_WORSE = 145           # the value is below this node's static value by WORSE_MARGIN
    WORSE_MARGIN = 110
    SCALE_PRIOR_WORSE = 154     # the value is below the parent's static value by PRIOR_WORSE_MARGIN
    PRIOR_WORSE_MARGIN = 73
    SCALE_LIMIT = 4096
    # Shares of the scaled bonus:
    PRIOR_CONTINUATION = 221    # 1/16384
    PRIOR_BUTTERFLY = 235       # 1/32768
    PRIOR_PAWN = 290            # 1/8192
    PRIOR_CAPTURE = 1018        # the whole bonus of a capture

# Change of the static value by a quiet move, in centipawns.
cdef enum:
    LEAST_GAIN = -214
    GREATEST_GAIN = 171
    GAIN_OFFSET = 60

cdef enum:
    HASH_CUT_OFFSET = 71
    EARLY_MOVES = 4             # the refuted move must be one of these
    PRIOR_HISTORY_DIVISOR = 32  # of the last move's history score, added to the best move's bonus


cdef inline bint is_move(Move32 move32) noexcept nogil:
    return move32 != NO_MOVE and move32 != NULL_MOVE


cdef inline bint keeps_pawns(Move32 move32) noexcept nogil:
    """Return whether a move that does not capture leaves the pawn structure as it is."""
    return type_of(placed_piece(move32)) != PAWN and not is_promotion(move32)


cdef inline int history_malus(int depth) noexcept nogil:
    """Return the malus, a positive number, for the moves searched before the best move."""
    return clamp(tune.malus_slope * depth - tune.malus_offset, 0, tune.malus_limit)


cdef inline int history_bonus(const Node *node) noexcept nogil:
    """Return the bonus for the best move; more for the hash move, after many moves that failed, and after a move with
    a good history."""
    return (clamp(tune.bonus_slope * node.depth - tune.bonus_offset, 0, tune.bonus_limit)
            + tune.bonus_hash_move * (node.best_move == node.tt.move)
            + tune.bonus_move * (node.quiet_count + node.capture_count)
            + (node.ss - 1).history // PRIOR_HISTORY_DIVISOR)


cdef inline int percent_by_positive(int positive) noexcept nogil:
    """Return the percentage of its bonus that an entry gets: more if many entries up to it are positive (Stockfish)."""
    if positive == 0:
        return 96
    return 100 if positive < 4 else 115 if positive == 4 else 118 if positive == 5 else 129


cdef inline int update_continuation(const Stack *earlier, Move32 move32, int bonus, int share, int offset,
                                    int positive) noexcept nogil:
    """Update an entry after `positive` ones with a positive value; return their number with this one."""
    if not is_move(earlier.move):
        return positive
    positive += continuation_value(earlier.continuation, move32) > 0
    bonus = bonus * percent_by_positive(positive) // 100 * share // 1024 + offset
    update_continuation_entry(earlier.continuation, move32, bonus)
    return positive


cdef inline void update_continuations(const Stack *ss, Move32 move32, int bonus) noexcept nogil:
    """Update the continuation histories of the moves 1 to 6 plies before `ss`; in check, only of the last two."""
    cdef int positive = update_continuation(ss - 1, move32, bonus, SHARE_1, OFFSET_1, 0)
    positive = update_continuation(ss - 2, move32, bonus, SHARE_2, 0, positive)
    if ss.in_check:
        return
    positive = update_continuation(ss - 3, move32, bonus, SHARE_3, 0, positive)
    positive = update_continuation(ss - 4, move32, bonus, SHARE_4, 0, positive)
    positive = update_continuation(ss - 5, move32, bonus, SHARE_5, 0, positive)
    update_continuation(ss - 6, move32, bonus, SHARE_6, 0, positive)


cdef inline void update_quiet_histories(Searcher *s, const Node *node, Move move, int bonus) noexcept nogil:
    """Update the butterfly, low-ply, pawn and continuation histories of a quiet move."""
    cdef Move32 move32 = to_move32(&s.pos, move)
    update_butterfly(s.histories, s.pos.side, move, bonus)
    if node.ply < LOW_PLIES:
        update_low_ply(s.histories, node.ply, move, bonus * LOW_PLY_SHARE // 1024)
    update_pawn_history(node.ss.pawn_history, move32,
                        bonus * (PAWN_BONUS_SHARE if bonus > 0 else PAWN_MALUS_SHARE) // 1024)
    update_continuations(node.ss, move32, bonus * CONTINUATION_SHARE // 1024)


cdef inline void update_capture_history(Searcher *s, Move move, int bonus) noexcept nogil:
    update_capture(s.histories, to_move32(&s.pos, move), bonus)


cdef inline void update_quiets(Searcher *s, const Node *node, int bonus, int malus) noexcept nogil:
    """Reward a quiet best move; the malus of the other quiets decays in the order in which they were searched."""
    cdef int i
    update_quiet_histories(s, node, node.best_move, bonus * tune.quiet_bonus // 1024)
    malus = malus * tune.quiet_malus // 1024
    for i in range(node.quiet_count):
        malus = malus * tune.malus_decay // 1024
        update_quiet_histories(s, node, node.quiets[i], -malus)


cdef inline void update_histories(Searcher *s, const Node *node) noexcept nogil:
    """Reward the best move; punish the moves searched before it, and the opponent's first quiet move if refuted."""
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
    """In non-PV nodes, note whether the hash move was the best move."""
    if not node.pv:
        update_entry(&s.histories.hash_move,
                     tune.hash_move_bonus if node.best_move == node.tt.move else -tune.hash_move_malus, HASH_MOVE_LIMIT)


cdef inline void update_after_multi_cut(Searcher *s, const Node *node) noexcept nogil:
    """Punish the hash move: other moves cut the node as well."""
    update_entry(&s.histories.hash_move, -clamp(MULTI_CUT_BASE + MULTI_CUT_SLOPE * node.depth, 0, MULTI_CUT_LIMIT),
                 HASH_MOVE_LIMIT)


cdef inline int prior_bonus(const Node *node) noexcept nogil:
    """Return a bonus that grows with depth and move number, and if the value is below the static values."""
    cdef const Stack *prior = node.ss - 1
    cdef int scale = SCALE_BASE - prior.history // SCALE_HISTORY
    scale += clamp(SCALE_SLOPE * node.depth, 0, SCALE_DEPTH_LIMIT)
    scale += SCALE_LATE * (prior.move_count > LATE_MOVE)
    scale += SCALE_WORSE * (not node.in_check and node.best_value <= node.ss.static_value - WORSE_MARGIN)
    scale += SCALE_PRIOR_WORSE * (not prior.in_check and node.best_value <= -prior.static_value - PRIOR_WORSE_MARGIN)
    return clamp(PRIOR_SLOPE * node.depth - PRIOR_OFFSET, 0, PRIOR_LIMIT) * clamp(scale, 0, SCALE_LIMIT)


cdef inline void update_prior_move(Searcher *s, const Node *node) noexcept nogil:
    """After a fail low, reward the opponent's move that led here."""
    cdef const Stack *prior = node.ss - 1
    cdef Move32 move32 = prior.move
    cdef int bonus
    if not is_move(move32):
        return
    if captured_piece(move32):
        update_capture(s.histories, move32, PRIOR_CAPTURE)
        return
    bonus = prior_bonus(node)
    update_continuations(prior, move32, bonus * PRIOR_CONTINUATION // 16384)
    update_butterfly(s.histories, 1 - s.pos.side, <Move>move32, bonus * PRIOR_BUTTERFLY // 32768)
    if keeps_pawns(move32):
        update_pawn_history(node.ss.pawn_history, move32, bonus * PRIOR_PAWN // 8192)


cdef inline void update_by_gain(Searcher *s, const Node *node) noexcept nogil:
    """Reward or punish the quiet move that led here by its change of the static value."""
    cdef const Stack *prior = node.ss - 1
    cdef Move32 move32 = prior.move
    cdef int gain
    if not is_move(move32) or captured_piece(move32) or prior.in_check:
        return
    gain = clamp(-(prior.static_value + node.ss.static_value), LEAST_GAIN, GREATEST_GAIN) + GAIN_OFFSET
    update_butterfly(s.histories, 1 - s.pos.side, <Move>move32, gain * tune.gain_main)
    if not node.tt.hit and keeps_pawns(move32):
        update_pawn_history(node.ss.pawn_history, move32, gain * tune.gain_pawn)


cdef inline void update_after_tt_cutoff(Searcher *s, const Node *node) noexcept nogil:
    """After a fail high from the TT, reward a quiet hash move and punish the opponent's quiet move if it came early."""
    cdef const Stack *prior = node.ss - 1
    if not node.tt.move or node.tt_value < node.beta:
        return
    if not node.tt_capture:
        update_quiet_histories(s, node, node.tt.move,
                               clamp(tune.hash_cut_slope * node.depth - HASH_CUT_OFFSET, 0, tune.hash_cut_limit))
    if is_move(prior.move) and prior.move_count <= EARLY_MOVES and not captured_piece(prior.move):
        update_continuations(prior, prior.move, -tune.hash_cut_malus)
