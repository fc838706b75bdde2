"""The quiescence leaf: the position at the end of the quiescence search's principal variation.

In training the search's score is compared with the static value of the leaf, which has no capture pending.
"""

from core_ext.eval.evaluate cimport Evaluator
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

cdef enum:
    MAX_LEAF_PLIES = 8

cdef struct LeafLine:
    int length
    Move moves[MAX_LEAF_PLIES]

# Quiescence search: captures and pawn promotions that lose nothing by static exchange, in check all evasions; stand pat
# where not in check. Fills the principal variation, returns its value in centipawns for the side to move. The position
# has room for MAX_LEAF_PLIES more plies.
cdef int find_quiescence_leaf(Evaluator *evaluator, Position *pos, LeafLine *line) noexcept nogil
