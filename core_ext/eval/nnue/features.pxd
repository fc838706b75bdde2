"""Input features of the network, each from the perspective of one colour: White's is the board rotated.

K+P: the Bonapiece number of every piece, then one for each king: 81 for the own king's square, 81 for the enemy king's.
HalfKP: the Bonapiece number of every piece, in one block of numbers for each square of the king of the perspective.
A piece missing from a handicap position has no feature.
"""

from core_ext.eval.bonapiece cimport BONAPIECES, features, inverse_square
from core_ext.shogi.types cimport BLACK, SQUARES

ctypedef int FeatureSet
cdef enum:
    K_P = 0
    HALF_KP = 1
    FEATURE_SETS = 2

cdef enum:
    OWN_KING = BONAPIECES               # of K+P, on its square 0
    ENEMY_KING = OWN_KING + SQUARES
    K_P_FEATURES = ENEMY_KING + SQUARES
    HALF_KP_FEATURES = SQUARES * BONAPIECES
    MAX_ACTIVE = 40


cdef inline int feature_count(FeatureSet kind) noexcept nogil:
    return HALF_KP_FEATURES if kind == HALF_KP else K_P_FEATURES

cdef inline int square_from(int perspective, int square) noexcept nogil:
    return square if perspective == BLACK else inverse_square(square)


cdef inline int number_from(int perspective, int number) noexcept nogil:
    """Return a number, given from Black's perspective, from that of `perspective`."""
    return number if perspective == BLACK else features.inverse[number]


cdef inline int piece_base(FeatureSet kind, int perspective, int own_king) noexcept nogil:
    """Return the feature of number 0 if the perspective's own king is on a square, given from Black's perspective."""
    return square_from(perspective, own_king) * BONAPIECES if kind == HALF_KP else 0


cdef inline int king_feature(int perspective, int color, int square) noexcept nogil:
    """Return the K+P feature of a king on a square, given from Black's perspective."""
    return (OWN_KING if color == perspective else ENEMY_KING) + square_from(perspective, square)
