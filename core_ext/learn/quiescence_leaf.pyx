"""A plain quiescence search that keeps its principal variation; contract in quiescence_leaf.pxd."""

from libc.string cimport memcpy

from core_ext.eval.evaluate cimport Evaluator, evaluate
from core_ext.shogi.movegen cimport generate_captures, generate_evasions
from core_ext.shogi.position cimport Position, do_move, in_check, undo_move
from core_ext.shogi.see cimport see_at_least, see_value
from core_ext.shogi.types cimport INFINITE, MAX_MOVES, Move, to_square, type_of


cdef inline int capture_value(const Position *pos, Move move) noexcept nogil:
    return see_value(type_of(pos.board[to_square(move)]))


cdef void move_best_first(const Position *pos, Move *moves, int count) noexcept nogil:
    """Move the most valuable victim to the front: one step of selection sort, as a cutoff often ends the list early."""
    cdef int i, best = 0
    cdef Move move
    for i in range(1, count):
        if capture_value(pos, moves[i]) > capture_value(pos, moves[best]):
            best = i
    move = moves[best]
    moves[best] = moves[0]
    moves[0] = move


cdef int search_moves(Evaluator *evaluator, Position *pos, int alpha, int beta, int depth, int best,
                      LeafLine *line) noexcept nogil:
    """Return the best of standing pat (`best`) and of the moves that lose nothing or, if in check, of all evasions."""
    cdef Move moves[MAX_MOVES]
    cdef LeafLine below
    cdef bint checked = in_check(pos)
    cdef Move *end = generate_evasions(pos, moves, False) if checked else generate_captures(pos, moves, False)
    cdef int i, value
    for i in range(<int>(end - moves)):
        move_best_first(pos, moves + i, <int>(end - moves) - i)
        if not checked and not see_at_least(pos, moves[i], 0):
            continue
        do_move(pos, moves[i])
        value = -quiescence(evaluator, pos, -beta, -max(alpha, best), depth - 1, &below)
        undo_move(pos)
        if value > best:
            best = value
            line.length = below.length + 1
            line.moves[0] = moves[i]
            memcpy(line.moves + 1, below.moves, below.length * sizeof(Move))
            if best >= beta:
                break
    return best


cdef int quiescence(Evaluator *evaluator, Position *pos, int alpha, int beta, int depth, LeafLine *line) noexcept nogil:
    cdef int value
    line.length = 0
    if depth == 0:
        return evaluate(evaluator, pos)
    value = -INFINITE if in_check(pos) else evaluate(evaluator, pos)
    return value if value >= beta else search_moves(evaluator, pos, alpha, beta, depth, value, line)


cdef int find_quiescence_leaf(Evaluator *evaluator, Position *pos, LeafLine *line) noexcept nogil:
    return quiescence(evaluator, pos, -INFINITE, INFINITE, MAX_LEAF_PLIES, line)
