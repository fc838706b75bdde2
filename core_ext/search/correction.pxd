"""Correction history (Stockfish 2024): the mean error of the evaluation in positions that share a key with this one.

After a search, the difference between its value and the static value updates one entry of each key; before a search,
the entries correct the evaluation, and where the correction is large, less is pruned and reduced. Keys: both hands, the
pawns, all other pieces of each side, the last move; the last move after the one two, and the one four plies ago.
"""

from core_ext.search.history cimport (
    CORRECTIONS, CORRECTION_HANDS, CORRECTION_LIMIT, CORRECTION_MOVE, CORRECTION_OTHER_PIECES, CORRECTION_PAWNS,
    CORRECTION_PIECES, CORRECTION_SLOTS, piece_to_entry, slot_of, update_entry,
)
from core_ext.search.movepick cimport is_quiet
from core_ext.search.stack cimport Node, Searcher, Stack, clamp
from core_ext.search.tune cimport tune
from core_ext.shogi.bitboard cimport prefetch
from core_ext.shogi.position cimport GROUP_PAWNS, GROUP_PIECES, Position
from core_ext.shogi.types cimport Move32, int16_t, is_decisive, moved_piece, to_square, uint64_t


cdef inline int correction_slot(const Position *pos, const Stack *ss, int key) noexcept nogil:
    cdef const uint64_t *keys = pos.state.group_keys
    if key == CORRECTION_MOVE:
        return moved_piece((ss - 1).move) << 7 | to_square((ss - 1).move)
    if key == CORRECTION_HANDS:
        return slot_of(pos.state.hand_key, CORRECTION_SLOTS)
    if key == CORRECTION_PAWNS:
        return slot_of(keys[GROUP_PAWNS], CORRECTION_SLOTS)
    return slot_of(keys[GROUP_PIECES + (pos.side if key == CORRECTION_PIECES else 1 - pos.side)], CORRECTION_SLOTS)


cdef inline int16_t *correction_entry(Searcher *s, const Stack *ss, int key) noexcept nogil:
    return &s.histories.correction[key][s.pos.side][correction_slot(&s.pos, ss, key)]


cdef inline int16_t *pair_entry(const Stack *ss, int plies) noexcept nogil:
    """Of the last move, which may be a null move, after the one so many plies ago."""
    return piece_to_entry((ss - plies).correction, (ss - 1).move)


cdef inline void prefetch_pairs(const Stack *ss, Move32 move32) noexcept nogil:
    """Have the pair_entry of the node after the move brought from memory, before the move is made."""
    prefetch(piece_to_entry((ss - 1).correction, move32))
    prefetch(piece_to_entry((ss - 3).correction, move32))


cdef inline void prefetch_keyed(Searcher *s, const Stack *ss) noexcept nogil:
    """Have the other entries brought, once the move is made; they come while the node waits for the table."""
    cdef int key
    for key in range(CORRECTIONS):
        prefetch(correction_entry(s, ss, key))


cdef inline int mean_error(Searcher *s, const Stack *ss) noexcept nogil:
    """What has to be added to the evaluation, in centipawns."""
    cdef int error = tune.correction_weight * (correction_entry(s, ss, CORRECTION_HANDS)[0]
                                               + correction_entry(s, ss, CORRECTION_MOVE)[0])
    error += tune.correction_pawns * correction_entry(s, ss, CORRECTION_PAWNS)[0]
    error += tune.correction_pieces * (correction_entry(s, ss, CORRECTION_PIECES)[0]
                                       + correction_entry(s, ss, CORRECTION_OTHER_PIECES)[0])
    error += tune.correction_moves * (pair_entry(ss, 2)[0] + pair_entry(ss, 4)[0])
    return error // 1024


cdef inline bint has_static_error(Searcher *s, const Node *node, int error) noexcept nogil:
    """Whether the value's bound implies that the static value was off by `error` at least, in a quiet position."""
    if node.in_check or is_decisive(node.best_value) or (node.best_move and not is_quiet(&s.pos, node.best_move)):
        return False
    if error < 0:
        return node.best_value < node.beta
    return node.best_move != 0


cdef inline void update_correction(Searcher *s, const Node *node) noexcept nogil:
    cdef int error = node.best_value - node.ss.static_value, bonus, key
    if not has_static_error(s, node, error):
        return
    bonus = error * node.depth * (tune.correction_rate_best if node.best_move else tune.correction_rate) // 128
    bonus = clamp(bonus, -CORRECTION_LIMIT // 4, CORRECTION_LIMIT // 4)
    for key in range(CORRECTIONS):
        update_entry(correction_entry(s, node.ss, key), bonus, CORRECTION_LIMIT)
    update_entry(pair_entry(node.ss, 2), bonus, CORRECTION_LIMIT)
    update_entry(pair_entry(node.ss, 4), bonus, CORRECTION_LIMIT)
