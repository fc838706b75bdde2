"""Labels of moves, 0 to 2186, as the policy of dlshogi numbers them (T. Yamaoka, dlshogi: make_move_label).

A label is 81 times the way a move arrives, plus its target, seen from the side to move: White's board is turned round.
"""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport *

cdef enum:
    WAYS = 27
    LABELS = WAYS * SQUARES
    NO_LABEL = 0xFFFF
    MOVE_WORDS = 1 << 15

# By the side to move and the 16 bits of a move; NO_LABEL if they are no move.
cdef uint16_t[COLORS][MOVE_WORDS] move_labels

# Write the legal move of each label, dominated or not; NO_MOVE if there is none.
cdef void write_label_moves(const Position *pos, Move *out) noexcept nogil
