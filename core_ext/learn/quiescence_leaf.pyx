"""A plain quiescence search that keeps its best line; contract in settle.pxd."""

from libc.string cimport memcpy

from core_ext.eval.evaluate cimport Evaluator, evaluate
from core_ext.shogi.movegen cimport generate_captures, generate_evasions
from core_ext.shogi.position cimport Position, do_move, in_check, undo_move
from core_ext.shogi.see cimport see_at_least, see_value
from core_ext.shogi.types cimport INFINITE, MAX_MOVES, Move, to_square, type_of


cdef inline int promise(const Position *pos, Move move) noexcept nogil:
    return see_value(type_of(pos.board[to_square(move)]))


cdef void bring_best_first(const Position *pos, Move *moves, int count) noexcept nogil:
    """What captures most: it cuts most. Lists are short, and seldom gone through to their end."""
    cdef int i, best = 0
    cdef Move move
    for i in range(1, count):
        if promise(pos, moves[i]) > promise(pos, moves[best]):
            best = i
    move = moves[best]
    moves[best] = moves[0]
    moves[0] = move


cdef int follow_moves(Evaluator *evaluator, Position *pos, int alpha, int beta, int depth, int best,
                      Line *line) noexcept nogil:
    """The best of stopping, which is worth `best`, and of the moves that lose nothing; all of them in check."""
    cdef Move moves[MAX_MOVES]
    cdef Line below
    cdef bint checked = in_check(pos)
    cdef Move *end = generate_evasions(pos, moves, False) if checked else generate_captures(pos, moves, False)
    cdef int i, value
    for i in range(<int>(end - moves)):
        bring_best_first(pos, moves + i, <int>(end - moves) - i)
        if not checked and not see_at_least(pos, moves[i], 0):
            continue
        do_move(pos, moves[i])
        value = -settle_within(evaluator, pos, -beta, -max(alpha, best), depth - 1, &below)
        undo_move(pos)
        if value > best:
            best = value
            line.length = below.length + 1
            line.moves[0] = moves[i]
            memcpy(line.moves + 1, below.moves, below.length * sizeof(Move))
            if best >= beta:
                break
    return best


cdef int settle_within(Evaluator *evaluator, Position *pos, int alpha, int beta, int depth, Line *line) noexcept nogil:
    cdef int value
    line.length = 0
    if depth == 0:
        return evaluate(evaluator, pos)
    value = -INFINITE if in_check(pos) else evaluate(evaluator, pos)
    return value if value >= beta else follow_moves(evaluator, pos, alpha, beta, depth, value, line)


cdef int settle(Evaluator *evaluator, Position *pos, Line *line) noexcept nogil:
    return settle_within(evaluator, pos, -INFINITE, INFINITE, SETTLING_PLIES, line)
