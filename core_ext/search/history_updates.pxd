"""What a searched node teaches the histories. (The forms are those of Stockfish, the numbers ours.)"""

from core_ext.search.history cimport (
    BUTTERFLY_LIMIT, CAPTURE_LIMIT, CONTINUATION_LIMIT, CORRECTIONS, CORRECTION_LIMIT, LOW_PLIES, SHAPE_LIMIT,
    capture_entry, move_slot, nudge, piece_to_entry,
)
from core_ext.search.movepick cimport is_quiet
from core_ext.shogi.position cimport to_move32
from core_ext.search.pruning cimport bonus_of, clamp, correction_entry, decided, malus_of
from core_ext.search.stack cimport Frame, Node, Searcher
from core_ext.search.tune cimport HASH_CUT_BONUS, PRIOR_BONUS, RESEARCH_BONUS, tune
from core_ext.shogi.types cimport Move, NO_MOVE, NULL_MOVE, Move32, captured_piece


cdef inline void credit_continuation(const Frame *earlier, Move32 move32, int bonus) noexcept nogil:
    if earlier.move:
        nudge(piece_to_entry(earlier.continuation, move32), bonus, CONTINUATION_LIMIT)


cdef inline void credit_quiet(Searcher *s, const Node *node, Move move, int bonus) noexcept nogil:
    """Butterfly, low-ply, pawn-structure and continuation histories of one quiet move."""
    cdef Move32 move32 = to_move32(&s.pos, move)
    cdef const Frame *frame = node.frame
    nudge(&s.histories.butterfly[s.pos.side][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    if node.ply < LOW_PLIES:
        nudge(&s.histories.low_ply[node.ply][move_slot(move)], bonus, BUTTERFLY_LIMIT)
    nudge(piece_to_entry(frame.shape, move32), bonus, SHAPE_LIMIT)
    credit_continuation(frame - 1, move32, bonus)
    credit_continuation(frame - 2, move32, bonus)
    credit_continuation(frame - 4, move32, bonus)
    credit_continuation(frame - 6, move32, bonus // 2)


cdef inline void teach_cut(Searcher *s, Node *node) noexcept nogil:
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
        nudge(capture_entry(s.histories, to_move32(&s.pos, best)), bonus, CAPTURE_LIMIT)
    for i in range(node.capture_count):
        nudge(capture_entry(s.histories, to_move32(&s.pos, node.captures[i])), malus, CAPTURE_LIMIT)


cdef inline void teach_prior(Searcher *s, Node *node) noexcept nogil:
    """A node where no move reached alpha speaks well of the quiet move that led to it."""
    cdef const Frame *frame = node.frame - 1
    cdef Move32 move32 = frame.move
    cdef int bonus = bonus_of(node.depth) * tune[PRIOR_BONUS] // 100
    if move32 == NO_MOVE or move32 == NULL_MOVE or captured_piece(move32) or bonus <= 0:
        return
    nudge(&s.histories.butterfly[1 - s.pos.side][move_slot(<Move>move32)], bonus, BUTTERFLY_LIMIT)
    nudge(piece_to_entry(frame.shape, move32), bonus, SHAPE_LIMIT)
    credit_continuation(frame - 1, move32, bonus)
    credit_continuation(frame - 2, move32, bonus)


cdef inline void teach_research(const Node *node, Move32 move32, int depth, int value) noexcept nogil:
    """What the full-depth search of a reduced move found goes to the continuation histories."""
    cdef int bonus
    if value <= node.alpha:
        bonus = -malus_of(depth)
    elif value >= node.beta:
        bonus = bonus_of(depth)
    else:
        return
    bonus = bonus * tune[RESEARCH_BONUS] // 100
    credit_continuation(node.frame - 1, move32, bonus)
    credit_continuation(node.frame - 2, move32, bonus)
    credit_continuation(node.frame - 4, move32, bonus)


cdef inline void teach_hash_cut(Searcher *s, Node *node) noexcept nogil:
    """A quiet move that cuts by the table alone is credited as well."""
    cdef int bonus = bonus_of(node.depth) * tune[HASH_CUT_BONUS] // 100
    if bonus > 0 and node.hash.move and not node.hash_capture and node.hash_value >= node.beta:
        credit_quiet(s, node, node.hash.move, bonus)


cdef inline void teach_correction(Searcher *s, Node *node) noexcept nogil:
    """How far the static value was from the searched one, where the bound says something about it."""
    cdef int error = node.best_value - node.frame.static_value, bonus, key
    if node.in_check or decided(node.best_value) or (node.best_move and not is_quiet(&s.pos, node.best_move)):
        return
    if (error < 0 and node.best_value >= node.beta) or (error > 0 and not node.best_move):
        return
    bonus = clamp(error * node.depth // 8, -CORRECTION_LIMIT // 4, CORRECTION_LIMIT // 4)
    for key in range(CORRECTIONS):
        nudge(correction_entry(s, node.frame, key), bonus, CORRECTION_LIMIT)
