"""Tables of coarse.pxd, and the coarser terms folded into those of play; contracts in coarse.pyi."""

import numpy as np

from core_ext.features cimport BONAPIECES, HALF_SQUARES, features
from core_ext.types cimport (
    BISHOP, COLORS, DRAGON, GOLD, HORSE, KNIGHT, LANCE, PAWN, ROOK, SILVER, SQUARES, make_piece,
)


cdef void name_kinds() noexcept:
    cdef int *on_board = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, HORSE, ROOK, DRAGON]
    cdef int i, color, square, base
    for i in range(BONAPIECES):
        kinds.kind[i] = kinds.board_kind[i] = -1
    for color in range(COLORS):
        for i in range(PAWN, GOLD + 1):
            base = features.hand_base[color][i]
            for square in range(1, 19 if i == PAWN else 3 if i == BISHOP or i == ROOK else 5):
                kinds.kind[base + square] = i - 1
        for i in range(9):
            base = features.board_base[make_piece(color, on_board[i])]
            for square in range(SQUARES):
                kinds.kind[base + square] = 7 + i
                kinds.board_kind[base + square] = 2 * i + color
                kinds.square[base + square] = square


name_kinds()


def king_rows():
    """Zone and place in the rows of each king square on files 1 to 5."""
    return [(zone_of(king), place_in_row(king)) for king in range(HALF_SQUARES)]


def fold_pieces(values):
    """The 16 piece values to one for each Bonapiece, White's negative."""
    result = np.zeros(BONAPIECES, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] given = np.ascontiguousarray(values, dtype=np.float32)
    cdef int number
    for number in range(BONAPIECES):
        if kinds.kind[number] >= 0:
            out[number] = given[kinds.kind[number]] if is_black(number) else -given[kinds.kind[number]]
    return result


def fold_relative(values):
    """Relative KP as KP, by king on files 1 to 5 and number."""
    result = np.zeros(HALF_SQUARES * BONAPIECES, dtype=np.float32)
    cdef float[::1] out = result
    cdef const float[::1] given = np.ascontiguousarray(values, dtype=np.float32)
    cdef int king, number, place
    for king in range(HALF_SQUARES):
        for number in range(BONAPIECES):
            place = offset_place(king, number)
            if place >= 0:
                out[king * BONAPIECES + number] = given[place]
    return result
