"""Coarser looks at pieces and kings, for terms that share what rare triples cannot learn.

A piece's kind; its kind and its offset from the king; the zone of the king's square.
"""

from core_ext.features cimport BONAPIECES, features
from core_ext.folding cimport in_the_middle
from core_ext.types cimport int32_t

cdef enum:
    KINDS = 16                  # of pieces that have one value each: 7 in hand, 9 on the board
    OFFSETS = 18 * 17 * 17      # a kind and colour on the board, files and ranks from the king
    ZONES = 11                  # of king squares that share pairs, see zone_of

cdef struct Kinds:
    int32_t kind[BONAPIECES]    # 0 to 15; -1: none
    int32_t board_kind[BONAPIECES]  # 0 to 17, colours apart; -1: in hand
    int32_t square[BONAPIECES]

cdef Kinds kinds


cdef inline bint is_black(int number) noexcept nogil:
    return number < features.inverse[number]


cdef inline int offset_place(int king, int number) noexcept nogil:
    """Of a piece on the board beside the king: kind and colour, ranks and files between them; -1 in hand."""
    cdef int files, ranks
    if kinds.board_kind[number] < 0:
        return -1
    files = kinds.square[number] // 9 - king // 9
    ranks = kinds.square[number] % 9 - king % 9
    if in_the_middle(king) and files < 0:
        files = -files
    return (kinds.board_kind[number] * 17 + files + 8) * 17 + ranks + 8


cdef inline int zone_of(int king) noexcept nogil:
    """Of a king on files 1 to 5: files 1-2 or 3-4 or 5, ranks i-h or g-f, and above them each file alone."""
    cdef int file = king // 9, rank = king % 9
    return 4 * (file // 2) + (0 if rank >= 7 else 1 if rank >= 5 else 2 + file % 2)


cdef inline int place_in_row(int king) noexcept nogil:
    """Of the king's own cell beside the one that its zone shares."""
    cdef int file = king // 9, rank = king % 9
    return 1 + (rank - 7 + 2 * (file % 2) if rank >= 7 else rank - 5 + 2 * (file % 2) if rank >= 5 else rank)
