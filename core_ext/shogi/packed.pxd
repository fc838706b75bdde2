"""Positions in 32 bytes, as in the training data of other programs. Every error is a ValueError."""

from core_ext.shogi.position cimport Position

cdef enum:
    PSV = 0     # YaneuraOu's packed sfen
    HCP = 1     # Apery's Huffman-coded position, which dlshogi uses

cdef bytes pack_position(const Position *pos, int layout)
# Set up the position with move number 1. An error leaves it incomplete.
cdef int unpack_position(Position *pos, object data, int layout) except -1
