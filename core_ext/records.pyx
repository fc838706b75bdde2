"""Games and valued positions to records; every signature and its contract stands in records.pyi."""

from libc.stdint cimport int8_t, uint16_t

import numpy as np

from core_ext.eval.evaluate cimport Evaluator, free_evaluator, init_evaluator
from core_ext.eval.kpp.weights cimport Weights
from core_ext.eval.bonapiece cimport LISTED, PieceLists, inverse_square, list_pieces
from core_ext.shogi.movegen cimport generate_captures
from core_ext.shogi.position cimport (
    Position, allocate_position, clear_position, do_move, free_position, full_key, in_check, reserve_plies, undo_move,
)
from core_ext.shogi.see cimport see_at_least
from core_ext.learn.record cimport Record, UNFINISHED, UNSCORED
from core_ext.learn.quiescence_leaf cimport Line, SETTLING_PLIES, settle
from core_ext.shogi.sfen cimport parse_move, parse_sfen
from core_ext.shogi.types cimport BLACK, MAX_MOVES, Move, NO_SQUARE, WHITE, int16_t, to_square, uint8_t, uint32_t

cdef enum:
    RECORDS_A_PLY = 2           # at most

RECORD = np.dtype([
    ("key", "<u8"), ("game", "<u4"), ("pieces", "<u2", (LISTED,)), ("ply", "<u2"), ("score", "<i2"),
    ("king", "u1", (2,)), ("side", "i1"), ("result", "i1"),
])
NO_SCORE = UNSCORED
NO_RESULT = UNFINISHED


cdef void write_record(const Position *pos, Record *out, int score, int result, uint32_t game) noexcept nogil:
    cdef PieceLists lists
    cdef int i
    list_pieces(pos, &lists)
    for i in range(LISTED):
        out.pieces[i] = <uint16_t>lists.seen[BLACK][i]
    out.key = full_key(pos)
    out.game = game
    out.ply = <uint16_t>pos.ply
    out.score = <int16_t>(score if score == UNSCORED or pos.side == BLACK else -score)
    out.king[BLACK] = <uint8_t>pos.king[BLACK]
    out.king[WHITE] = <uint8_t>inverse_square(pos.king[WHITE])
    out.side = <int8_t>pos.side
    out.result = <int8_t>result


cdef bint is_settled(const Position *pos) noexcept nogil:
    """Not in check, and no capture that wins material: the static value can be asked for what a search would say."""
    cdef Move moves[MAX_MOVES]
    cdef Move *end
    cdef int i
    if in_check(pos):
        return False
    end = generate_captures(pos, moves, False)
    for i in range(<int>(end - moves)):
        if see_at_least(pos, moves[i], 1):
            return False
    return True


cdef int write_settled(Evaluator *evaluator, Position *pos, Move move, Record *out, int score, int result,
                       uint32_t game) noexcept nogil:
    """The position itself if the move is quiet, and the quiet end of the captures that follow; returns how many.

    A capture chosen where none seems to pay has reasons that lie too deep to learn from.
    """
    cdef Line line
    cdef int i, written = 0
    cdef bint quiet = not pos.board[to_square(move)]
    settle(evaluator, pos, &line)
    if quiet:
        write_record(pos, out, score, result, game)
        written = 1
    if line.length == 0:
        return written
    for i in range(line.length):
        do_move(pos, line.moves[i])
    if not in_check(pos):
        write_record(pos, out + written, -score if line.length & 1 and score != UNSCORED else score, result, game)
        written += 1
    while line.length:
        undo_move(pos)
        line.length -= 1
    return written


cdef class GameReader:
    cdef Position pos
    cdef Evaluator evaluator
    cdef Weights weights

    def __cinit__(self, Weights weights=None):
        allocate_position(&self.pos, 1024)
        self.weights = weights
        if weights is not None:
            init_evaluator(&self.evaluator, weights)

    def __dealloc__(self):
        free_position(&self.pos)
        free_evaluator(&self.evaluator)

    cdef int _write(self, Move move, Record *out, int score, int result, uint32_t game) noexcept nogil:
        """The position's own record, and that of the quiet one it leads to; returns how many, 0 to RECORDS_A_PLY."""
        if in_check(&self.pos):
            return 0
        if self.weights is not None:
            return write_settled(&self.evaluator, &self.pos, move, out, score, result, game)
        if self.pos.board[to_square(move)]:
            return 0
        write_record(&self.pos, out, score, result, game)
        return 1

    cdef bint _set_up(self, str sfen) except -1:
        """Whether both kings stand."""
        clear_position(&self.pos)
        parse_sfen(&self.pos, sfen)
        return self.pos.king[BLACK] != NO_SQUARE and self.pos.king[WHITE] != NO_SQUARE

    def read(self, sfen: str, moves, scores, result: int, game: int, records, limit: int = 3000):
        cdef Record[::1] out = records
        cdef int written = 0, score, move
        if not self._set_up(sfen):
            return 0
        for text, value in zip(moves, scores):
            move = parse_move(&self.pos, text)
            score = UNSCORED if value is None else value
            wanted = score == UNSCORED or -limit < score < limit
            reserve_plies(&self.pos, SETTLING_PLIES + 1)
            if wanted and written + RECORDS_A_PLY <= out.shape[0]:
                written += self._write(<Move>move, &out[written], score, result, game)
            do_move(&self.pos, <Move>move)
        return written

    def read_valued(self, sfen: str, moves, values, records, limit: int = 3000):
        cdef Record[::1] out = records
        cdef int written = 0, value, move
        if not self._set_up(sfen):
            return 0
        reserve_plies(&self.pos, 1)
        for text, told in zip(moves, values):
            move, value = parse_move(&self.pos, text), told
            do_move(&self.pos, <Move>move)
            if -limit < value < limit and written < out.shape[0] and is_settled(&self.pos):
                write_record(&self.pos, &out[written], -value, UNFINISHED, 0)
                written += 1
            undo_move(&self.pos)
        return written
