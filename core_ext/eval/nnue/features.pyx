"""Tables of a feature set from its description."""

from core_ext.eval.bonapiece cimport HALF_SQUARES, features, inverse_square, mirror_square

BUCKETS = (1, HALF_SQUARES, SQUARES)   # for all squares of the king, for each of files 1 to 5, for each

cdef int square_in(int view, int square) noexcept:
    """Return Black's square as a view has it."""
    square = inverse_square(square) if view % 2 else square
    return mirror_square(square) if view >= 2 else square


cdef int number_in(int view, int number) noexcept:
    number = features.inverse[number] if view % 2 and number else number    # 0, no piece, is 0 in every view
    return features.mirror[number] if view >= 2 else number


cdef list checked_planes(object described):
    """Return the planes of the kings' features. ValueError."""
    cdef list planes = [(int(ours), int(theirs)) for ours, theirs in described.kings]
    if described.buckets not in BUCKETS or len(planes) > KING_FEATURES or not all(
            [0 <= plane < MAX_PLANES for pair in planes for plane in pair]):
        raise ValueError(f"no feature set: {described.buckets} buckets, planes of kings {planes}")
    return planes


cdef int fill_features(FeatureSet *found, object described) except -1:
    cdef int view, number, color, which, square, perspective, own
    cdef list planes = checked_planes(described)
    cdef int buckets = described.buckets
    cdef int size = BONAPIECES + SQUARES * (1 + max([plane for pair in planes for plane in pair], default=-1))
    found.count = buckets * size
    found.kings = len(planes)
    found.bound = buckets > 1
    for view in range(VIEWS):
        for number in range(BONAPIECES):
            found.number[view][number] = number_in(view, number)
        for color in range(COLORS):
            for which in range(found.kings):
                for square in range(SQUARES):
                    found.king[view][color][which][square] = (
                        BONAPIECES + planes[which][color != view % 2] * SQUARES + square_in(view, square))
    for perspective in range(COLORS):
        for square in range(SQUARES):
            own = square_in(perspective, square)
            view = perspective + 2 * (found.bound and own >= buckets)
            found.view[perspective][square] = view
            found.base[perspective][square] = size * square_in(view, square) if found.bound else 0
    return 0
