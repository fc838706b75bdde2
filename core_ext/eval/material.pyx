"""Piece values and their sums; contracts in material.pxd."""

from core_ext.shogi.hand cimport hand_count
from core_ext.shogi.position cimport Position
from core_ext.shogi.see cimport see_value
from core_ext.shogi.types cimport BLACK, COLORS, DRAGON, GOLD, KING, PAWN, SQUARES, WHITE, int32_t, make_piece


cdef void set_usual_values() noexcept:
    cdef int piece_type
    for piece_type in range(PAWN, DRAGON + 1):
        if piece_type != KING:
            usual_values[make_piece(BLACK, piece_type)] = see_value(piece_type)
            usual_values[make_piece(WHITE, piece_type)] = -see_value(piece_type)


set_usual_values()


cdef int material_value(const int32_t *values, const Position *pos) noexcept nogil:
    """Sum over all squares and hands: in a search that takes a few per cent of the time of a node."""
    cdef int sum = 0, square, color, piece_type
    for square in range(SQUARES):
        sum += values[pos.board[square]]
    for color in range(COLORS):
        for piece_type in range(PAWN, GOLD + 1):
            sum += values[make_piece(color, piece_type)] * hand_count(pos.state.hand[color], piece_type)
    return sum if pos.side == BLACK else -sum
