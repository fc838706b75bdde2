"""Short mates by bitboards, without doing moves."""

from core_ext.position cimport Position
from core_ext.types cimport Move

# A move that mates at once, or NO_MOVE. Exact: a mate in one is found where there is one, also out of a check.
cdef Move mate_in_one(const Position *pos) noexcept nogil
