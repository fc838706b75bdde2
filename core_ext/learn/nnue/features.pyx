"""The table of features.pxd."""

from core_ext.eval.bonapiece cimport BONAPIECES, features
from core_ext.eval.nnue.features cimport number_from
from core_ext.shogi.types cimport COLORS


cdef int fill_table() noexcept:
    cdef int number, color, seen
    for number in range(BONAPIECES):
        for color in range(COLORS):
            seen = number_from(color, number)
            number_table[0][color][number] = <uint16_t>seen
            number_table[1][color][number] = <uint16_t>features.mirror[seen]
    return BONAPIECES


cdef int filled = fill_table()
assert filled == BONAPIECES
