"""The end of a game by the rules."""

from core_ext.shogi.position cimport Position

# Return 0 while the game goes on, else 1 + the place of its end in Termination; `winner` is a colour, or -1: nobody.
# `rule` is a DeclarationRule; the game ends after `max_moves` moves, 0: never.
cdef int find_end(const Position *pos, int rule, int max_moves, int *winner) noexcept nogil
