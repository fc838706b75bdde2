"""Perft: leaf counts of the tree of all legal moves."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport uint64_t

# Count the leaves `depth` plies below, dominated moves included. There must be room for `depth` plies.
cdef uint64_t perft(Position *pos, int depth) noexcept nogil
