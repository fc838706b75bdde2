"""The door's memory: a Board owns a Position."""

from core_ext.position cimport Position

cdef class Board:
    cdef Position pos
    cdef list played        # of the moves pushed since set-up, as ints
