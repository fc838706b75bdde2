"""sfen and USI move text <-> Position and Move. Every error is a ValueError that quotes the text."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

# Set up `text` (3 or 4 fields, hand pieces in any order). On an error the position is left half set up:
# parse into a spare one.
cdef int parse_sfen(Position *pos, str text) except -1
cdef str format_sfen(const Position *pos)
# The move that `text` means, legal here.
cdef int parse_move(const Position *pos, str text) except -1
cdef str format_move(Move move)
cdef int parse_square(str text) except -1
cdef str format_square(int square)
cdef str piece_letters(int piece)
