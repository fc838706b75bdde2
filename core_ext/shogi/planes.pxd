"""Positions as planes of 81 numbers, file by file from 1a, seen from the side to move: White's board is turned round.

Writers fill every plane.
"""

from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport *

cdef enum:
    KINDS = 14                          # of pieces, in the order P L N S B R G K +P +L +N +S +B +R
    COUNTED = 3                         # planes of the number of attackers
    DLSHOGI_BOARD = COLORS * (2 * KINDS + COUNTED)      # planes
    DLSHOGI_REST = COLORS * 28 + 1
    PIECE_PLANES = COLORS * (KINDS + GOLD)

# Write the input features of dlshogi (T. Yamaoka, dlshogi: make_input_features). `board`, for the side to move, then
# for its opponent: the pieces of each kind, the squares that each kind attacks, those attacked by at least one, two and
# three pieces. `rest`, for both: planes of ones, as many as pieces in hand, of 8 for pawns, 4 L, 4 N, 4 S, 4 G, 2 B,
# 2 R; at last one for check.
cdef void write_dlshogi_planes(const Position *pos, float *board, float *rest) noexcept nogil
# Write the pieces of each kind, for the side to move and for its opponent; then the number in hand of each of
# P L N S B R G on all squares of a plane, for both.
cdef void write_piece_planes(const Position *pos, float *out) noexcept nogil
