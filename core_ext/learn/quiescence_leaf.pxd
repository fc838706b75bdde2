"""The quiet end of the captures that follow a position: where its value can be learned from."""

from core_ext.eval.evaluate cimport Evaluator
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

cdef enum:
    SETTLING_PLIES = 8

cdef struct Line:
    int length
    Move moves[SETTLING_PLIES]

# The best line of captures and pawn promotions that lose nothing by static exchange, all evasions in check; the side to
# move may stop wherever it is not in check. Returns its value, centipawns for the side to move. The position has room
# for SETTLING_PLIES more.
cdef int settle(Evaluator *evaluator, Position *pos, Line *line) noexcept nogil
