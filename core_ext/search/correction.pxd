"""Correction history (Stockfish 2024): the mean error of the evaluation in positions that share a key with this one.

After a search, the difference between its value and the static value updates one entry of each key; before a search,
the entries correct the evaluation, and where the correction is large, less is pruned and reduced. Keys, as in
YaneuraOu 9.70: the pawns of both sides, their small pieces, each side's pieces but the pawns, and the last move with
the one before it and with the one three plies before it.
"""

from core_ext.search.history cimport (
    CORRECTIONS, CORRECTION_BLACK, CORRECTION_FAR_MOVES, CORRECTION_LIMIT, CORRECTION_MINORS, CORRECTION_MOVES,
    CORRECTION_PAWNS, CORRECTION_SLOTS, CORRECTION_WHITE, update_entry,
)
from core_ext.search.movepick cimport is_quiet
from core_ext.search.stack cimport Node, Searcher, Stack, clamp
from core_ext.search.tune cimport tune
from core_ext.shogi.position cimport PART_BLACK, PART_PAWNS, PART_WHITE, State
from core_ext.shogi.types cimport Move32, int16_t, placed_piece, to_square, uint64_t


cdef inline uint64_t move_pair_key(Move32 earlier, Move32 last) noexcept nogil:
    """By the pieces as they stand after the moves, and where."""
    cdef uint64_t pair = placed_piece(earlier) << 7 | to_square(earlier)
    return (pair << 12 | placed_piece(last) << 7 | to_square(last)) * <uint64_t>0x9E3779B97F4A7C15 >> 48


cdef inline uint64_t correction_key(const State *state, const Stack *ss, int key) noexcept nogil:
    if key == CORRECTION_PAWNS:
        return state.part_key[PART_PAWNS]
    if key == CORRECTION_MINORS:
        return state.minor_key
    if key == CORRECTION_BLACK:
        return state.part_key[PART_BLACK]
    if key == CORRECTION_WHITE:
        return state.part_key[PART_WHITE]
    return move_pair_key((ss - 2 if key == CORRECTION_MOVES else ss - 4).move, (ss - 1).move)


cdef inline int16_t *correction_entry(Searcher *s, const Stack *ss, int key) noexcept nogil:
    return &s.histories.correction[key][s.pos.side][correction_key(s.pos.state, ss, key) & (CORRECTION_SLOTS - 1)]


cdef inline int correction_of(Searcher *s, const Stack *ss, int key) noexcept nogil:
    return correction_entry(s, ss, key)[0]


cdef inline int mean_error(Searcher *s, const Stack *ss) noexcept nogil:
    """What has to be added to the evaluation, in centipawns."""
    cdef int error = tune.correction_pawns * correction_of(s, ss, CORRECTION_PAWNS)
    error += tune.correction_minors * correction_of(s, ss, CORRECTION_MINORS)
    error += tune.correction_pieces * (correction_of(s, ss, CORRECTION_BLACK) + correction_of(s, ss, CORRECTION_WHITE))
    error += tune.correction_moves * (correction_of(s, ss, CORRECTION_MOVES)
                                      + correction_of(s, ss, CORRECTION_FAR_MOVES))
    return error // 1024


cdef inline bint has_static_error(Searcher *s, const Node *node, int error) noexcept nogil:
    """Whether the search says, of a quiet position, that the static value was too high (no move reached alpha) or too
    low (one did)."""
    if node.in_check or (node.best_move and not is_quiet(&s.pos, node.best_move)):
        return False
    return (error > 0) == (node.best_move != 0)


cdef inline int correction_share(int key) noexcept nogil:
    """Of the bonus, in 1/128."""
    if key == CORRECTION_PAWNS:
        return 137
    if key == CORRECTION_MINORS:
        return 163
    if key == CORRECTION_MOVES:
        return 135
    return 67 if key == CORRECTION_FAR_MOVES else 200


cdef inline void update_correction(Searcher *s, const Node *node) noexcept nogil:
    cdef int error = node.best_value - node.ss.static_value, bonus, key
    if not has_static_error(s, node, error):
        return
    bonus = error * node.depth * (tune.correction_rate if node.best_move else tune.correction_rate_low) // 128
    bonus = clamp(bonus, -CORRECTION_LIMIT // 4, CORRECTION_LIMIT // 4)
    for key in range(CORRECTIONS):
        update_entry(correction_entry(s, node.ss, key), bonus * correction_share(key) // 128, CORRECTION_LIMIT)
