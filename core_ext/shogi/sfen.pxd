"""Conversion between USI text and Position, Move or square. Every error is a ValueError that quotes the text."""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

# Set up an sfen of 3 or 4 fields, hand pieces in any order. An error leaves the position incomplete.
cdef int parse_sfen(Position *pos, str text) except -1
# Check pieces and kings of a position that is set up, and compute the rest of it; errors quote `text`.
cdef int complete_position(Position *pos, str text) except -1
cdef str format_sfen(const Position *pos)
# Return a move given as USI text or as its 16 bits, a pass as NULL_MOVE; whether it is legal is not checked.
cdef int word_of(object move) except -1
# Return the legal move that is given as `word_of` reads it.
cdef int parse_move(const Position *pos, object move) except -1
cdef str format_move(Move move)
cdef int parse_square(str text) except -1
cdef str format_square(int square)
# Return `P` for a black pawn, `+r` for a white dragon.
cdef str piece_letters(int piece)
