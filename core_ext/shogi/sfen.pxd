"""Conversion between sfen or USI move text and Position or Move. Every error is a ValueError that quotes the text."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

# Set up the sfen `text` (3 or 4 fields, hand pieces in any order). An error leaves the position incomplete: parse into
# a spare one.
cdef int parse_sfen(Position *pos, str text) except -1
cdef str format_sfen(const Position *pos)
# The legal move with this USI text.
cdef int parse_move(const Position *pos, str text) except -1
cdef str format_move(Move move)
cdef int parse_square(str text) except -1
cdef str format_square(int square)
# `P` a black pawn, `+r` a white dragon.
cdef str piece_letters(int piece)
