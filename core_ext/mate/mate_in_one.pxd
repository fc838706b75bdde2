"""Short mates by bitboards."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move, uint64_t

# A move that mates at once, or NO_MOVE. Exact: a mate in one is found where there is one, also out of a check.
cdef Move mate_in_one(const Position *pos) noexcept nogil
# The same; `flights` is set to the number of squares that the enemy king could go to, were it to move.
cdef Move mate_or_flights(const Position *pos, int *flights) noexcept nogil
# A mate in exactly three plies by checks, where there is none in one: the check, an answer and the mate go to `line`;
# the number of positions set up on the way is added to `made`. It plays moves and takes them back: there must be room
# for three plies. What it finds is a mate, whatever the answer. Not tried are checks that seem to leave the king more
# than `flights` squares to go to, and useless non-promotions.
cdef bint mate_in_three(Position *pos, int flights, Move *line, uint64_t *made) noexcept nogil
