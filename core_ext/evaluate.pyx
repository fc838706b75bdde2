"""Material: the sum of the piece values."""

from core_ext.bitboard cimport both, count
from core_ext.hand cimport hand_count
from core_ext.position cimport Position, pieces
from core_ext.see cimport see_value
from core_ext.types cimport DRAGON, GOLD, KING, PAWN


cdef int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil:
    cdef int us = pos.side, value = 0, piece_type
    for piece_type in range(PAWN, DRAGON + 1):
        if piece_type != KING:
            value += see_value(piece_type) * (count(pieces(pos, us, piece_type)) - count(pieces(pos, us ^ 1, piece_type)))
    for piece_type in range(PAWN, GOLD + 1):
        value += see_value(piece_type) * (hand_count(pos.state.hand[us], piece_type)
                                          - hand_count(pos.state.hand[us ^ 1], piece_type))
    return value
