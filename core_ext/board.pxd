"""C declarations of Board for the other public modules."""

from core_ext.shogi.bitboard cimport Bitboard
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move

cdef int declaration_rule(str rule) except -1
cdef list names_of(const Move *first, const Move *last)
cdef list squares_of(Bitboard squares)


cdef class Board:
    cdef Position pos
    cdef Board _copy(self, kind)
    cdef list _hands(self)
