"""Input features of the network, each from the perspective of one colour: White's is the board rotated.

A set has, for each piece other than the kings, one active feature: its Bonapiece number (from the perspective) in the
bucket of the perspective's own king. There may be one bucket, one for each square of the king (Half), or one for each
square of files 1 to 5 (vm, hm): if the king is on files 6 to 9, the board is reflected. Behind the numbers a bucket may
have planes of 81 features for the kings' squares. Tables for both perspectives and all squares of the king are computed
once for a network. A piece missing from a handicap position has no feature.
"""

from core_ext.eval.bonapiece cimport BONAPIECES, LISTED
from core_ext.shogi.types cimport COLORS, SQUARES, int16_t, int32_t, uint8_t

cdef enum:
    VIEWS = 4               # perspective + 2 if reflected
    KING_FEATURES = 2       # active features of one king, at most
    MAX_PLANES = 4          # of kings' squares behind the numbers
    MAX_ACTIVE = LISTED + 2 * KING_FEATURES
    MAX_CHANGED = KING_FEATURES + 1     # by one move of a king that captures

cdef struct FeatureSet:
    int count                           # features
    int kings                           # active features of one king
    bint bound                          # to the perspective's king: when it moves, the sums must be refreshed
    int32_t base[COLORS][SQUARES]       # first feature of the bucket, by perspective and own king's square
    uint8_t view[COLORS][SQUARES]       # index of the tables below, by the same
    int16_t number[VIEWS][BONAPIECES]   # offset in the bucket, by number from Black's perspective
    int16_t king[VIEWS][COLORS][KING_FEATURES][SQUARES]     # the same, by king and its square

# A bucket as one position and perspective use it.
cdef struct Viewpoint:
    int32_t base
    int view

# Fill in the tables of a set, whose `buckets` and `kings` are those of usi_engine.evaluation.parts.FeatureSet.
# ValueError.
cdef int fill_features(FeatureSet *found, object described) except -1


cdef inline Viewpoint viewpoint_of(const FeatureSet *used, int perspective, int own_king) noexcept nogil:
    """Return the viewpoint by the square of its king, given from Black's perspective."""
    cdef Viewpoint found
    found.base = used.base[perspective][own_king]
    found.view = used.view[perspective][own_king]
    return found


cdef inline int piece_feature(const FeatureSet *used, Viewpoint viewpoint, int number) noexcept nogil:
    """Return the feature of a Bonapiece number, given from Black's perspective."""
    return viewpoint.base + used.number[viewpoint.view][number]


cdef inline int king_feature(const FeatureSet *used, Viewpoint viewpoint, int which, int color,
                             int square) noexcept nogil:
    """Return a king's feature number `which`; the square is given from Black's perspective."""
    return viewpoint.base + used.king[viewpoint.view][color][which][square]
