"""Piece values that the user sets; contracts in piece_values.pxd."""

from libc.string cimport memcpy

from core_ext.eval.material cimport usual_values
from core_ext.shogi.sfen cimport piece_letters
from core_ext.shogi.types cimport BLACK, DRAGON, KING, PAWN, WHITE, make_piece

_TYPES = {piece_letters(make_piece(BLACK, piece_type)): piece_type
          for piece_type in range(PAWN, DRAGON + 1) if piece_type != KING}


cdef int checked_type(object letters) except -1:
    if letters not in _TYPES:
        raise ValueError(f"no piece with a value: {letters!r}; one of {' '.join(_TYPES)}")
    return _TYPES[letters]


cdef int checked_value(object letters, object value) except -1:
    if type(value) is not int or not 0 <= value <= MAX_PIECE_VALUE:
        raise ValueError(f"the value of '{letters}' is an integer from 0 to {MAX_PIECE_VALUE}, not {value!r}")
    return value


cdef class PieceValues:
    """Piece values in centipawns, an evaluation for a Worker: the material of the side to move minus the opponent's.

    `PieceValues({"P": 100, "+P": 600})`: by letters as in an sfen (`P L N S B R G +P +L +N +S +B +R`), each from 0 to
    MAX_PIECE_VALUE; other pieces keep their usual values. A piece in hand counts as on the board. Only the static value
    changes: static exchange, and with it move ordering, keeps the usual values. ValueError for other letters
    and values.
    """

    def __cinit__(self, values=None):
        cdef int piece_type
        memcpy(self.values, usual_values, sizeof(usual_values))
        for letters, value in dict(values or {}).items():
            piece_type = checked_type(letters)
            self.values[make_piece(BLACK, piece_type)] = checked_value(letters, value)
            self.values[make_piece(WHITE, piece_type)] = -self.values[make_piece(BLACK, piece_type)]

    def as_dict(self):
        """Return every value by the piece's letters."""
        return {letters: self.values[make_piece(BLACK, <int>piece_type)] for letters, piece_type in _TYPES.items()}

    def __repr__(self):
        return f"PieceValues({self.as_dict()})"
