"""The quiescence leaf: the position at the end of the quiescence search's principal variation.

Training compares the search's score with the static value of the leaf, in which no capture is pending.
"""

from core_ext.eval.evaluate cimport Evaluator
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

cdef enum:
    MAX_LEAF_PLIES = 8

cdef struct LeafLine:
    int length
    Move moves[MAX_LEAF_PLIES]

# Search captures and pawn promotions that lose nothing by SEE, with stand pat; in check, search all evasions. Fill in
# the principal variation; return its value in centipawns for the side to move. The position must have room for
# MAX_LEAF_PLIES more plies.
cdef int find_quiescence_leaf(Evaluator *evaluator, Position *pos, LeafLine *line) noexcept nogil
