"""Conversion between USI text and Position, Move or square. Every error is a ValueError that quotes the text."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

# Set up an sfen of 3 or 4 fields, hand pieces in any order. An error leaves the position incomplete.
cdef int parse_sfen(Position *pos, str text) except -1
cdef str format_sfen(const Position *pos)
# Return the legal move with this USI text.
cdef int parse_move(const Position *pos, str text) except -1
cdef str format_move(Move move)
cdef int parse_square(str text) except -1
cdef str format_square(int square)
# Return `P` for a black pawn, `+r` for a white dragon.
cdef str piece_letters(int piece)
