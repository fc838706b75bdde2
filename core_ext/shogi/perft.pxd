"""Leaf counts of the tree of all legal moves."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport uint64_t

# Number of leaves at `depth` plies below, dominated non-promotions included. There must be room for `depth` plies.
cdef uint64_t perft(Position *pos, int depth) noexcept nogil
