"""The C side of Table, for tests."""

from core_ext.search.tt cimport TranspositionTable


cdef class Table:
    cdef TranspositionTable table
    cdef readonly int megabytes
