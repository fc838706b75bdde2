"""C declarations of Board for the other public modules."""

from core_ext.shogi.position cimport Position

cdef int declaration_rule(str rule) except -1


cdef class Board:
    cdef Position pos
    cdef list played        # moves pushed since the set-up, as ints
    cdef Board _copy(self, kind)
    cdef bint _can_move(self) noexcept
    cdef str _last_square(self)
    cdef list _hands(self)
