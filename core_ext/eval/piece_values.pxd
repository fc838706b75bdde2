"""Piece values that the user sets, for the material evaluation."""

from core_ext.shogi.types cimport PIECES, int32_t

cdef enum:
    MAX_PIECE_VALUE = 10_000


# Owns the values; an Evaluator that uses them must not outlive it.
cdef class PieceValues:
    cdef int32_t values[PIECES]     # centipawns for Black, by piece
