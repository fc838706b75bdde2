"""The static value of a position."""

from core_ext.position cimport Position

# What one thread needs to evaluate along a line of play.
cdef struct Evaluator:
    int unused

# Centipawns for the side to move. Nothing needs to be told of do and undo: the evaluator knows a position by its key and its
# ply, follows from the parent's sums where it has them and sums anew where not.
cdef int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil
