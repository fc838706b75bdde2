"""Mate in one move."""

from core_ext.movegen cimport generate_checks, has_legal_move
from core_ext.position cimport Position
from core_ext.types cimport MAX_MOVES, Move, NO_MOVE


cdef Move mate_in_one(const Position *pos) noexcept nogil:
    return NO_MOVE
