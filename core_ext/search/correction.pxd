"""Correction history (Stockfish, 2024): the mean error of the evaluation in positions that share a key with this one.

After a search, the difference between its value and the static value updates one entry per key. Before a search, the
entries correct the static value; a large correction also means less pruning and reduction. The keys are listed in
history.pxd; two more entries belong to the last move after the moves two and four plies earlier.
"""

from core_ext.base.arithmetic cimport clamp
from core_ext.search.history cimport (
    CORRECTION_HANDS, CORRECTION_LIMIT, CORRECTION_MOVE, CORRECTION_OTHER_PIECES, CORRECTION_PAWNS,
    CORRECTION_PIECES, CORRECTION_SLOTS, CORRECTIONS, hash_slot, piece_to_entry, update_entry,
)
from core_ext.search.searcher cimport Node, Searcher, Stack
from core_ext.search.tune cimport tune
from core_ext.shogi.bitboard cimport prefetch
from core_ext.shogi.position cimport GROUP_PAWNS, GROUP_PIECES, Position, is_quiet
from core_ext.shogi.types cimport Move32, int16_t, is_decisive, moved_piece, to_square, uint64_t


cdef inline int correction_slot(const Position *pos, const Stack *ss, int key) noexcept nogil:
    cdef const uint64_t *keys = pos.state.group_keys
    if key == CORRECTION_MOVE:
        return moved_piece((ss - 1).move) << 7 | to_square((ss - 1).move)
    if key == CORRECTION_HANDS:
        return hash_slot(pos.state.hand_key, CORRECTION_SLOTS)
    if key == CORRECTION_PAWNS:
        return hash_slot(keys[GROUP_PAWNS], CORRECTION_SLOTS)
    return hash_slot(keys[GROUP_PIECES + (pos.side if key == CORRECTION_PIECES else 1 - pos.side)], CORRECTION_SLOTS)


cdef inline int16_t *correction_entry(Searcher *s, const Stack *ss, int key) noexcept nogil:
    return &s.histories.correction[key][s.pos.side][correction_slot(&s.pos, ss, key)]


cdef inline int16_t *continuation_correction(const Stack *ss, int plies) noexcept nogil:
    """Return the entry of the last move (null moves included) after the move `plies` plies before the node."""
    return piece_to_entry((ss - plies).correction, (ss - 1).move)


cdef inline void prefetch_continuation_corrections(const Stack *ss, Move32 move32) noexcept nogil:
    """Prefetch the child's continuation_correction entries before the move is made."""
    prefetch(piece_to_entry((ss - 1).correction, move32))
    prefetch(piece_to_entry((ss - 3).correction, move32))


cdef inline void prefetch_corrections(Searcher *s, const Stack *ss) noexcept nogil:
    """Prefetch the other entries after the move is made, while the node waits for its TT entry."""
    cdef int key
    for key in range(CORRECTIONS):
        prefetch(correction_entry(s, ss, key))


cdef inline int correction_value(Searcher *s, const Stack *ss) noexcept nogil:
    """Return the correction to add to the evaluation, in centipawns."""
    cdef int error = tune.correction_weight * (correction_entry(s, ss, CORRECTION_HANDS)[0]
                                               + correction_entry(s, ss, CORRECTION_MOVE)[0])
    error += tune.correction_pawns * correction_entry(s, ss, CORRECTION_PAWNS)[0]
    error += tune.correction_pieces * (correction_entry(s, ss, CORRECTION_PIECES)[0]
                                       + correction_entry(s, ss, CORRECTION_OTHER_PIECES)[0])
    error += tune.correction_moves * (continuation_correction(ss, 2)[0] + continuation_correction(ss, 4)[0])
    return error // 1024


cdef inline bint has_static_error(Searcher *s, const Node *node, int error) noexcept nogil:
    """Return whether the position is quiet and the bound of the node's value confirms the error of the static value."""
    if node.in_check or is_decisive(node.best_value) or (node.best_move and not is_quiet(&s.pos, node.best_move)):
        return False
    if error < 0:
        return node.best_value < node.beta
    return node.best_move != 0


cdef inline void learn_correction(Searcher *s, const Node *node, int depth, int rate) noexcept nogil:
    """Move the entries towards the difference of the best value from the static value."""
    cdef int bonus = (node.best_value - node.ss.static_value) * depth * rate // 128, key
    bonus = clamp(bonus, -CORRECTION_LIMIT // 4, CORRECTION_LIMIT // 4)
    for key in range(CORRECTIONS):
        update_entry(correction_entry(s, node.ss, key), bonus, CORRECTION_LIMIT)
    update_entry(continuation_correction(node.ss, 2), bonus, CORRECTION_LIMIT)
    update_entry(continuation_correction(node.ss, 4), bonus, CORRECTION_LIMIT)


cdef inline void update_correction(Searcher *s, const Node *node) noexcept nogil:
    if has_static_error(s, node, node.best_value - node.ss.static_value):
        learn_correction(s, node, node.depth, tune.correction_rate_best if node.best_move else tune.correction_rate)


cdef inline void update_correction_after_multi_cut(Searcher *s, const Node *node, int depth) noexcept nogil:
    """Learn from a search to `depth` without the hash move, whose value is a lower bound."""
    if not node.in_check and node.best_value > node.ss.static_value:
        learn_correction(s, node, depth, tune.correction_rate_best)
