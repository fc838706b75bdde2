"""Training positions: quiet positions of games, and of positions whose moves have values.

Arrays of them have the dtype TRAINING_POSITION: key, game (0: no game, never held out), move (the 16 bits of the move
played; 0 in a quiescence leaf and without a game), pieces (38 Bonapiece numbers from Black's perspective, 0 after the
last), ply, score (centipawns for Black, or NO_SCORE), king (both, each from the perspective of its colour), side to
move, result (RESULT_UNIT Black won, -RESULT_UNIT White, 0 draw, or a mean between them; NO_RESULT is allowed if there
is a score).
"""

from libc.stdint cimport int8_t, uint16_t
from libc.string cimport memcpy

import numpy as np

from core_ext.eval.evaluate cimport Evaluator, evaluate, free_evaluator, init_evaluator
from core_ext.eval.bonapiece cimport LISTED, PieceLists, inverse_square, list_pieces
from core_ext.shogi.movegen cimport generate_captures, generate_evasions, generate_legal
from core_ext.shogi.position cimport (
    Position, allocate_position, clear_position, do_move, free_position, full_key, has_both_kings, in_check,
    reserve_plies, undo_move,
)
from core_ext.shogi.see cimport see_at_least, see_value
from core_ext.learn import training_position as _training_position
from core_ext.learn.training_position cimport RESULT_UNIT as _RESULT_UNIT, TrainingPosition, UNFINISHED, UNSCORED
from core_ext.shogi.sfen cimport format_move, parse_move, parse_sfen
from core_ext.shogi.types cimport (
    BISHOP, BLACK, GOLD, INFINITE, KNIGHT, LANCE, MAX_MOVES, Move, NO_MOVE, PAWN, ROOK, SILVER, SQUARES, WHITE,
    dropped_type, from_square, int16_t, is_drop, is_promotion, to_square, type_of, uint8_t, uint32_t,
)

cdef enum:
    LAST_PLY = 0xFFFF           # greatest ply of a training position
    MAX_LEAF_PLIES = 8

TRAINING_POSITION = np.dtype([
    ("key", "<u8"), ("game", "<u4"), ("move", "<u2"), ("pieces", "<u2", (LISTED,)), ("ply", "<u2"), ("score", "<i2"),
    ("king", "u1", (2,)), ("side", "i1"), ("result", "i1"),
])
NO_SCORE = UNSCORED
NO_RESULT = UNFINISHED
RESULT_UNIT = _RESULT_UNIT
check_positions = _training_position.check_positions


cdef void write_position(const Position *pos, Move move, TrainingPosition *out, int score, int result,
                         uint32_t game) noexcept nogil:
    cdef PieceLists lists
    cdef int i
    list_pieces(pos, &lists)
    for i in range(LISTED):
        out.pieces[i] = <uint16_t>lists.numbers[BLACK][i]
    out.key = full_key(pos)
    out.game = game
    out.move = move
    out.ply = <uint16_t>min(pos.ply, LAST_PLY)
    out.score = <int16_t>(score if score == UNSCORED or pos.side == BLACK else -score)
    out.king[BLACK] = <uint8_t>pos.king[BLACK]
    out.king[WHITE] = <uint8_t>inverse_square(pos.king[WHITE])
    out.side = <int8_t>pos.side
    out.result = <int8_t>result


cdef bint is_quiet_position(const Position *pos) noexcept nogil:
    """Return whether the side to move is not in check and no capture wins material by static exchange."""
    cdef Move moves[MAX_MOVES]
    cdef Move *end
    cdef int i
    if in_check(pos):
        return False
    end = generate_captures(pos, moves)
    for i in range(<int>(end - moves)):
        if see_at_least(pos, moves[i], 1):
            return False
    return True


# ---- the quiescence leaf ----

# The position at the end of the quiescence search's principal variation, in which no capture is pending: training
# compares the search's score with its static value. The search tries captures and pawn promotions that lose nothing by
# SEE, with stand pat; in check, all evasions.
cdef struct LeafLine:
    int length
    Move moves[MAX_LEAF_PLIES]


cdef inline int victim_value(const Position *pos, Move move) noexcept nogil:
    return see_value(type_of(pos.board[to_square(move)]))


cdef void move_best_first(const Position *pos, Move *moves, int count) noexcept nogil:
    """Move the most valuable victim to the front: one step of selection sort, as a cutoff often ends the list early."""
    cdef int i, best = 0
    cdef Move move
    for i in range(1, count):
        if victim_value(pos, moves[i]) > victim_value(pos, moves[best]):
            best = i
    move = moves[best]
    moves[best] = moves[0]
    moves[0] = move


cdef int try_captures(Evaluator *evaluator, Position *pos, int alpha, int beta, int depth, int best,
                      LeafLine *line) noexcept nogil:
    """Return the best of standing pat (`best`) and of the moves that lose nothing or, if in check, of all evasions."""
    cdef Move moves[MAX_MOVES]
    cdef LeafLine below
    cdef bint checked = in_check(pos)
    cdef Move *end = generate_evasions(pos, moves, False) if checked else generate_captures(pos, moves)
    cdef int i, value
    for i in range(<int>(end - moves)):
        move_best_first(pos, moves + i, <int>(end - moves) - i)
        if not checked and not see_at_least(pos, moves[i], 0):
            continue
        do_move(pos, moves[i])
        value = -leaf_value(evaluator, pos, -beta, -max(alpha, best), depth - 1, &below)
        undo_move(pos)
        if value > best:
            best = value
            line.length = below.length + 1
            line.moves[0] = moves[i]
            memcpy(line.moves + 1, below.moves, below.length * sizeof(Move))
            if best >= beta:
                break
    return best


cdef int leaf_value(Evaluator *evaluator, Position *pos, int alpha, int beta, int depth, LeafLine *line) noexcept nogil:
    """Return centipawns for the side to move; fill in the principal variation."""
    cdef int value
    line.length = 0
    if depth == 0:
        return evaluate(evaluator, pos)
    value = -INFINITE if in_check(pos) else evaluate(evaluator, pos)
    return value if value >= beta else try_captures(evaluator, pos, alpha, beta, depth, value, line)


cdef int write_leaf(Evaluator *evaluator, Position *pos, Move move, TrainingPosition *out, int score, int result,
                    uint32_t game) noexcept nogil:
    """Write the quiescence leaf if the chosen move, a capture, leads to it; return how many, 0 or 1.

    Otherwise the score is not that of the leaf, or the capture has tactical reasons that a static value cannot express.
    """
    cdef LeafLine line
    cdef int i, written = 0
    leaf_value(evaluator, pos, -INFINITE, INFINITE, MAX_LEAF_PLIES, &line)
    if line.length == 0 or line.moves[0] != move:
        return 0
    for i in range(line.length):
        do_move(pos, line.moves[i])
    if not in_check(pos):
        score = -score if line.length & 1 and score != UNSCORED else score
        write_position(pos, NO_MOVE, out, score, result, game)
        written = 1
    while line.length:
        undo_move(pos)
        line.length -= 1
    return written


# ---- moves as numbers ----

cdef uint8_t[8] _letter_order      # of a piece type: its letter's place in BGLNPRS
for _place, _type in enumerate([BISHOP, GOLD, LANCE, KNIGHT, PAWN, ROOK, SILVER]):
    _letter_order[_type] = _place


cdef inline uint16_t text_order(Move move) noexcept nogil:
    """Return a number that orders moves as their USI texts are ordered: board moves by square, then drops."""
    cdef int origin = SQUARES + _letter_order[dropped_type(move)] if is_drop(move) else from_square(move)
    return <uint16_t>((origin << 7 | to_square(move)) << 1 | is_promotion(move))


cdef int list_orders(const Position *pos, Move *moves, uint16_t *orders) noexcept nogil:
    """List the legal moves, without dominated moves, and their text orders; return how many."""
    cdef int i, count = <int>(generate_legal(pos, moves, False) - moves)
    for i in range(count):
        orders[i] = text_order(moves[i])
    return count


cdef int count_below(const uint16_t *orders, int count, int order) noexcept nogil:
    cdef int i, below = 0
    for i in range(count):
        below += orders[i] < order
    return below


cdef Move move_at(const Position *pos, int place) noexcept nogil:
    """Return the legal move at this place among the sorted USI texts, or NO_MOVE."""
    cdef Move[MAX_MOVES] moves
    cdef uint16_t[MAX_MOVES] orders
    cdef int i, count = list_orders(pos, moves, orders)
    for i in range(count):
        if count_below(orders, count, orders[i]) == place:
            return moves[i]
    return NO_MOVE


cdef class GameReader:
    """Reads games into training positions and checks every move.

    With `weights`, a position whose chosen move is a capture gives its quiescence leaf, the quiet position at the end
    of the best line of captures by these weights, with the same score, if this line begins with that move.
    """

    cdef Position pos
    cdef Evaluator evaluator
    cdef object weights             # keeps their memory while the evaluator reads it

    def __cinit__(self, weights=None):
        allocate_position(&self.pos, 1024)
        self.weights = weights
        if weights is not None:
            init_evaluator(&self.evaluator, weights)

    def __dealloc__(self):
        free_position(&self.pos)
        free_evaluator(&self.evaluator)

    cdef int _write(self, Move move, TrainingPosition *out, int score, int result, uint32_t game) noexcept nogil:
        """Write the position or its quiescence leaf; return how many, 0 or 1."""
        if in_check(&self.pos):
            return 0
        if self.pos.board[to_square(move)]:
            if self.weights is None:
                return 0
            return write_leaf(&self.evaluator, &self.pos, move, out, score, result, game)
        write_position(&self.pos, move, out, score, result, game)
        return 1

    cdef bint _set_up(self, str sfen) except -1:
        """Set the position; return whether both kings are on the board."""
        clear_position(&self.pos)
        parse_sfen(&self.pos, sfen)
        return has_both_kings(&self.pos)

    def read_game(self, sfen: str, moves, scores, int result, uint32_t game, positions, int limit=8000):
        """Write a game's quiet positions into `positions` while there is room; return how many.

        A position is quiet if the side to move is not in check and the chosen move is no capture. `scores` are
        centipawns for the side to move, or None; those beyond `limit` count as `limit`. If any position has a score,
        those without one are left out. `result` is 1 (Black won), -1 or 0; `game` is the game's number. Returns 0 if a
        king is missing. ValueError for an illegal move.
        """
        cdef TrainingPosition[::1] out = positions
        cdef int written = 0, score, move
        cdef list texts = list(moves), values = list(scores)
        cdef bint scored = any([value is not None for value in values])
        if not self._set_up(sfen):
            return 0
        for text, value in zip(texts, values):
            score = UNSCORED if value is None else max(-limit, min(limit, <int>value))
            move = parse_move(&self.pos, text)  # from here on no code of the caller runs, which could change `pos`
            reserve_plies(&self.pos, MAX_LEAF_PLIES + 1)
            if (score != UNSCORED or not scored) and written < out.shape[0]:
                written += self._write(<Move>move, &out[written], score, result * _RESULT_UNIT, game)
            do_move(&self.pos, <Move>move)
        return written

    def moves_at(self, sfen: str, places):
        """Return the moves of a game. Each is given by its place among the sorted texts of `Board.legal_moves()`.

        ValueError if there is no such move.
        """
        cdef list found = []
        cdef Move move
        self._set_up(sfen)
        for place in places:
            move = move_at(&self.pos, place)
            if move == NO_MOVE:
                raise ValueError(f"move {len(found) + 1}: there is no legal move {place}")
            reserve_plies(&self.pos, 1)
            do_move(&self.pos, move)
            found.append(format_move(move))
        return found

    def places_of(self, sfen: str, moves):
        """Return the places that `moves_at` turns into these moves. ValueError for an illegal or dominated move."""
        cdef list found = []
        cdef Move[MAX_MOVES] legal
        cdef uint16_t[MAX_MOVES] orders
        cdef int count, move, place
        self._set_up(sfen)
        for text in moves:
            move = parse_move(&self.pos, text)
            count = list_orders(&self.pos, legal, orders)
            place = count_below(orders, count, text_order(<Move>move))
            if move_at(&self.pos, place) != move:
                raise ValueError(f"a dominated move: '{text}'")
            reserve_plies(&self.pos, 1)
            do_move(&self.pos, <Move>move)
            found.append(place)
        return found

    def read_valued_moves(self, sfen: str, moves, values, positions, int limit=8000):
        """Write the quiet positions after each of the moves from one position; return how many.

        A position is quiet if the side to move is not in check and no capture wins material by static exchange.
        `values` are centipawns for the side that moves; those beyond `limit` count as `limit`. The positions have game
        0 and no result. Returns 0 if a king is missing. ValueError for an illegal move.
        """
        cdef TrainingPosition[::1] out = positions
        cdef int written = 0, value, move
        cdef list texts = list(moves), numbers = list(values)
        if not self._set_up(sfen):
            return 0
        reserve_plies(&self.pos, 1)
        for text, given in zip(texts, numbers):
            value = max(-limit, min(limit, <int>given))
            move = parse_move(&self.pos, text)
            do_move(&self.pos, <Move>move)
            if written < out.shape[0] and is_quiet_position(&self.pos):
                write_position(&self.pos, NO_MOVE, &out[written], -value, UNFINISHED, 0)
                written += 1
            undo_move(&self.pos)
        return written
