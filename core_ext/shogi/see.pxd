"""Static exchange evaluation: the material balance of a move after the best captures on its square."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move, Move32, captured_piece, is_promotion, moved_piece, placed_piece, type_of

cdef extern from *:
    """
    /* By piece type: - P L N S B R G K, then +P +L +N +S horse dragon. Apery's material values, rounded. */
    static const short exchange_value[16] =
        {0, 90, 315, 405, 495, 855, 990, 540, 15000, 540, 540, 540, 540, 945, 1395, 0};
    """
    const short exchange_value[16]

# Return whether the exchange that `move` starts is worth at least `threshold` for the side to move.
cdef bint see_at_least(const Position *pos, Move move, int threshold) noexcept nogil
cdef int see(const Position *pos, Move move) noexcept nogil


cdef inline int see_value(int piece_type) noexcept nogil:
    """Return the exchange value of a piece type in centipawns; 0 for NO_PIECE."""
    return exchange_value[piece_type]


cdef inline int capture_gain(Move32 move) noexcept nogil:
    """Return the value of the captured piece plus the gain by promotion."""
    cdef int gain = see_value(type_of(captured_piece(move)))
    if is_promotion(move):
        gain += see_value(type_of(placed_piece(move))) - see_value(type_of(moved_piece(move)))
    return gain
