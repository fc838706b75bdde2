"""Zobrist keys of pieces on squares, pieces in hand and the side to move, from one seed."""

from core_ext.shogi.types cimport COLORS, PIECES, SQUARES, uint64_t

cdef struct ZobristKeys:
    uint64_t board[PIECES][SQUARES]
    uint64_t hand[COLORS][8]        # added once for each piece in hand
    uint64_t side                   # White to move

cdef ZobristKeys zobrist
