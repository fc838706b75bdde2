"""What moves did well: the statistics that order moves and steer reductions, one set a thread.

Every entry moves towards its bonus and is drawn back to zero in proportion ("gravity", Stockfish): it stays within its
limit.
"""

from core_ext.shogi.types cimport (
    Move, PIECES, PIECE_TYPES, Move32, SQUARES, captured_piece, int16_t, placed_piece, to_square, type_of,
)

cdef enum:
    MOVE_SLOTS = 1 << 14        # origin and destination of a move, drops included
    LOW_PLIES = 4
    BUTTERFLY_LIMIT = 7183
    CAPTURE_LIMIT = 10692
    CONTINUATION_LIMIT = 29952
    SHAPE_LIMIT = 8192
    SHAPES = 256                # slots of pawn structures
    CORRECTION_LIMIT = 1024
    CORRECTION_SLOTS = 1 << 14

# What an evaluation's error is remembered by.
cdef enum:
    BY_HANDS
    BY_MOVE         # the last one
    BY_PAWNS
    BY_CASTLE       # of the side to move: king, golds, silvers
    BY_OTHER_CASTLE
    CORRECTIONS

# By the piece as it stands after the move, and its destination.
cdef struct PieceTo:
    int16_t at[PIECES][SQUARES]

cdef struct Histories:
    int16_t butterfly[2][MOVE_SLOTS]
    int16_t low_ply[LOW_PLIES][MOVE_SLOTS]
    int16_t capture[PIECES][SQUARES][PIECE_TYPES]
    PieceTo continuation[PIECES][SQUARES]   # [] of the earlier move; piece 0: no earlier move
    PieceTo shape[SHAPES]       # [] of the pawn structure
    int16_t correction[CORRECTIONS][2][CORRECTION_SLOTS]    # [by which key][side to move]

cdef Histories *allocate_histories() except NULL
cdef void free_histories(Histories *histories) noexcept nogil
cdef void clear_histories(Histories *histories) noexcept nogil


cdef inline void nudge(int16_t *entry, int bonus, int limit) noexcept nogil:
    cdef int size
    bonus = limit if bonus > limit else -limit if bonus < -limit else bonus
    size = bonus if bonus > 0 else -bonus
    entry[0] += <int16_t>(bonus - entry[0] * size // limit)


cdef inline int move_slot(Move move) noexcept nogil:
    return move & (MOVE_SLOTS - 1)


cdef inline int16_t *capture_entry(Histories *histories, Move32 move) noexcept nogil:
    return &histories.capture[placed_piece(move)][to_square(move)][type_of(captured_piece(move))]


cdef inline int16_t *piece_to_entry(PieceTo *table, Move32 move) noexcept nogil:
    return &table.at[placed_piece(move)][to_square(move)]
