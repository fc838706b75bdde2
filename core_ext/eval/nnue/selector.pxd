"""Choice of the layer stack by the hands, the squares of the kings, or the progress of the game, or by several of them.

The index is (hands' class x kings' class) x progress's step: hands count most, progress least. The class of both hands
is that of the side to move times the number of classes, plus that of the opponent; so is the class of both kings, each
seen from its own side. Descriptions of selectors are in usi_engine.evaluation.parts.
"""

from libc.stdint cimport int64_t

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Hand, SQUARES, int32_t, uint8_t

cdef enum:
    HAND_KINDS = 7
    HAND_GROUPS = 5
    MAX_STEPS = 32

cdef struct StackSelector:
    int hands                       # classes of one hand; 1: hands do not count
    int groups                      # bit n of a hand's class: it has a piece of group n; 0 groups: by its points
    Hand group[HAND_GROUPS]
    int class_points                # points of a class
    int points[HAND_KINDS]          # of one piece: pawn, lance, knight, silver, gold, bishop, rook
    int kings                       # zones of one king
    uint8_t zone[SQUARES]           # by the king's square from its own side
    int steps                       # of the game's progress
    int64_t step[MAX_STEPS]         # step n + 1 begins at this sum
    int32_t bias                    # the sum without pieces
    const int32_t *progress         # [own king's square][Bonapiece number], of both perspectives

# Fill in everything but the weights of the progress from `hand_classes`, `king_zones` and `progress_starts` of an
# Architecture; return the number of stacks. ValueError.
cdef int fill_selector(StackSelector *found, object architecture) except -1
# Return the index of the stack. Both kings must be on the board.
cdef int select_stack(const StackSelector *selector, const Position *pos) noexcept nogil
