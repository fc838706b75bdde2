"""Static exchange evaluation: what a move wins or loses once every capture on its square has been made."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

# Exchange values in centipawns by piece type.
cdef int see_value(int piece_type) noexcept nogil
# Whether the exchange that `move` starts ends at `threshold` or better for the side to move. Pins are not looked at.
cdef bint see_at_least(const Position *pos, Move move, int threshold) noexcept nogil
# The exchange value itself.
cdef int see(const Position *pos, Move move) noexcept nogil
