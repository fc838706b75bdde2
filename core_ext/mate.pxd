"""Short mates by bitboards, without doing moves."""

from core_ext.position cimport Position
from core_ext.types cimport Move

# A move that mates at once, or NO_MOVE. Exact: if there is a mate in one, it is found; the side to move may be in check.
cdef Move mate_in_one(const Position *pos) noexcept nogil
