"""The C side of Board, for the other public modules."""

from core_ext.shogi.position cimport Position

cdef int declaration_rule(str rule) except -1


cdef class Board:
    cdef Position pos
    cdef list played        # of the moves pushed since set-up, as ints
    cdef str _letters(self, int square, str blank)
    cdef str _kanji_cell(self, int square)
