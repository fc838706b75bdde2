"""The table of labels, and the labels of a position's legal moves.

The ways are ten directions (up, up left, up right, left, right, down, down left, down right, knight left, knight
right), the same with promotion, and the drops of the seven types.
"""

from libc.string cimport memset

from core_ext.shogi.movegen cimport generate_legal
from core_ext.shogi.types cimport *

cdef enum:
    DIRECTIONS = 10
    KNIGHT_WAY = 8


cdef int way_of(int origin, int target) noexcept:
    """Return the direction of a board move as Black sees it."""
    cdef int across = file_of(origin) - file_of(target), along = rank_of(target) - rank_of(origin)
    cdef int side = 0 if across == 0 else 1 if across < 0 else 2
    if along == -2 and (across == 1 or across == -1):
        return KNIGHT_WAY + side - 1
    return side if along < 0 else 2 + side if along == 0 else 5 + side


cdef int label_of(int color, Move move) noexcept:
    cdef int origin = from_square(move), target = to_square(move)
    if target >= SQUARES or origin == target or origin == NO_SQUARE:
        return NO_LABEL
    target = SQUARES - 1 - target if color == WHITE else target
    if is_drop(move):
        if dropped_type(move) > GOLD or is_promotion(move):
            return NO_LABEL
        return (2 * DIRECTIONS + dropped_type(move) - PAWN) * SQUARES + target
    origin = SQUARES - 1 - origin if color == WHITE else origin
    return (way_of(origin, target) + (DIRECTIONS if is_promotion(move) else 0)) * SQUARES + target


cdef void fill_labels() noexcept:
    cdef int color, word
    for color in range(COLORS):
        for word in range(MOVE_WORDS):
            move_labels[color][word] = <uint16_t>label_of(color, <Move>word)


fill_labels()


cdef void write_label_moves(const Position *pos, Move *out) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move *end = generate_legal(pos, moves, True)
    cdef int i
    memset(out, 0, LABELS * sizeof(Move))
    for i in range(<int>(end - moves)):
        out[move_labels[pos.side][moves[i]]] = moves[i]
