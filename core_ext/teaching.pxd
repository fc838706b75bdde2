"""What a searched node teaches the histories."""

from core_ext.history cimport (
    BUTTERFLY_LIMIT, CAPTURE_LIMIT, CONTINUATION_LIMIT, CORRECTION_LIMIT, LOW_PLIES, capture_entry, continuation_entry,
    move_slot, nudge,
)
from core_ext.movepick cimport is_quiet
from core_ext.position cimport enrich
from core_ext.rules cimport bonus_of, clamp, correction_by_hands, correction_by_move, decided, malus_of
from core_ext.searcher cimport Frame, Node, Searcher
from core_ext.types cimport Move, RichMove


cdef inline void credit_continuation(const Frame *earlier, RichMove rich, int bonus) noexcept nogil:
    if earlier.move:
        nudge(continuation_entry(earlier.continuation, rich), bonus, CONTINUATION_LIMIT)


cdef inline void credit_quiet(Searcher *s, const Node *node, Move move, int bonus) noexcept nogil:
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
        nudge(capture_entry(s.histories, enrich(&s.pos, best)), bonus, CAPTURE_LIMIT)
    for i in range(node.capture_count):
        nudge(capture_entry(s.histories, enrich(&s.pos, node.captures[i])), malus, CAPTURE_LIMIT)


cdef inline void teach_correction(Searcher *s, Node *node) noexcept nogil:
    """How far the static value was from the searched one, where the bound says something about it."""
    cdef int error = node.best_value - node.frame.static_value, bonus
    if node.in_check or decided(node.best_value) or (node.best_move and not is_quiet(&s.pos, node.best_move)):
        return
    if (error < 0 and node.best_value >= node.beta) or (error > 0 and not node.best_move):
        return
    bonus = clamp(error * node.depth // 8, -CORRECTION_LIMIT // 4, CORRECTION_LIMIT // 4)
    nudge(correction_by_hands(s), bonus, CORRECTION_LIMIT)
    nudge(correction_by_move(s, node.frame), bonus, CORRECTION_LIMIT)
