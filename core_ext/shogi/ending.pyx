"""The end of a game: mate, repetition, declaration, the limit of moves."""

from core_ext.shogi.movegen cimport has_legal_move
from core_ext.shogi.position cimport (
    REPETITION_DRAW, REPETITION_LOSS, REPETITION_WIN, RULE_TRY, can_declare, game_repetition, has_tried, in_check,
)

cdef enum:     # as in Termination
    GOES_ON, CHECKMATE, NO_MOVES, REPETITION, PERPETUAL_CHECK, DECLARATION, TRY, MOVE_LIMIT


cdef int find_end(const Position *pos, int rule, int max_moves, int *winner) noexcept nogil:
    cdef int us = pos.side, repetition
    winner[0] = us ^ 1
    if rule == RULE_TRY and has_tried(pos, us ^ 1):
        return TRY
    if not has_legal_move(pos):
        return CHECKMATE if in_check(pos) else NO_MOVES
    repetition = game_repetition(pos)
    if repetition == REPETITION_WIN or repetition == REPETITION_LOSS:
        winner[0] = us if repetition == REPETITION_WIN else us ^ 1
        return PERPETUAL_CHECK
    winner[0] = -1
    if repetition == REPETITION_DRAW:
        return REPETITION
    if rule != RULE_TRY and can_declare(pos, rule):
        winner[0] = us
        return DECLARATION
    return MOVE_LIMIT if 0 < max_moves < pos.ply else GOES_ON
