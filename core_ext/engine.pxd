"""C declaration of Table, for the test modules."""

from core_ext.search.tt cimport TranspositionTable


cdef class Table:
    cdef TranspositionTable table
    cdef readonly int megabytes
