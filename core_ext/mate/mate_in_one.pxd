"""Mate in one and mate in three on bitboards."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move, uint64_t

# Return a move that mates at once, or NO_MOVE. Exact, also if the side to move is in check.
cdef Move mate_in_one(const Position *pos) noexcept nogil
# Return the same; set `escapes` to the number of squares to which the enemy king could go if it were to move.
cdef Move mate_in_one_and_escapes(const Position *pos, int *escapes) noexcept nogil
# Find a mate in three plies by checks if there is no mate in one: `line` gets the check, an evasion and the mate, and
# `nodes` grows by the moves made. There must be room for three plies. If true, a mate follows every evasion. If false,
# a mate may still exist: dominated moves, and checks after which the king seems to have more than `max_escapes` escape
# squares, are not tried.
cdef bint mate_in_three(Position *pos, int max_escapes, Move *line, uint64_t *nodes) noexcept nogil
