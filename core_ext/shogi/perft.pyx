"""Perft. The moves of the last ply are counted without being made."""

from core_ext.shogi.movegen cimport generate_legal
from core_ext.shogi.position cimport Position, do_move, undo_move
from core_ext.shogi.types cimport MAX_MOVES, Move, uint64_t


cdef uint64_t perft(Position *pos, int depth) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move *last
    cdef Move *move = moves
    cdef uint64_t leaves = 0
    if depth == 0:
        return 1
    last = generate_legal(pos, moves, True)
    if depth == 1:
        return last - moves
    while move != last:
        do_move(pos, move[0])
        leaves += perft(pos, depth - 1)
        undo_move(pos)
        move += 1
    return leaves
