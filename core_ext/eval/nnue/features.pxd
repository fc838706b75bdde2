"""Input features of the network, as one colour ("view") sees the board: its own square 1a is the far corner.

K+P: the Bonapiece number of every piece, then one for each king: 81 squares of the viewer's own, 81 of the enemy's.
HalfKP: the Bonapiece number of every piece, in a block of numbers for each square of the viewer's own king.
A piece that is missing from the board (a handicap) has no feature.
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


cdef inline int seen_square(int view, int square) noexcept nogil:
    return square if view == BLACK else inverse_square(square)


cdef inline int seen_number(int view, int number) noexcept nogil:
    """A Bonapiece number of Black's, as `view` sees it."""
    return number if view == BLACK else features.inverse[number]


cdef inline int piece_base(FeatureSet kind, int view, int own_king) noexcept nogil:
    """The feature of number 0 with the viewer's king on a square (Black's view of it)."""
    return seen_square(view, own_king) * BONAPIECES if kind == HALF_KP else 0


cdef inline int king_feature(int view, int color, int square) noexcept nogil:
    """K+P only: of the king of a colour on a square (Black's view of it)."""
    return (OWN_KING if color == view else ENEMY_KING) + seen_square(view, square)
