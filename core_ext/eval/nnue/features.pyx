"""Descriptions of the feature sets, and their tables. Names and numbers are YaneuraOu's."""

from core_ext.eval.bonapiece cimport features, inverse_square, mirror_square

# Each set: buckets (1, SQUARES, or HALF_SQUARES for reflected boards), then for each feature of a king the plane of
# the own king's squares and that of the enemy's; planes are counted from the end of the Bonapiece numbers.
_SETS = {
    "K+P": (1, [(0, 1)]),
    "K+A2": (1, [(0, 0), (1, 2)]),
    "HalfKP": (81, []),
    "HalfKP_vm": (45, []),
    "HalfKA1": (81, [(0, 1)]),
    "HalfKA_hm1": (45, [(0, 1)]),
    "HalfKA2": (81, [(0, 0)]),
    "HalfKA_hm2": (45, [(0, 0)]),
}


def _bucket_size(name):
    planes = 1 + max([plane for pair in _SETS[name][1] for plane in pair], default=-1)
    return BONAPIECES + planes * SQUARES


FEATURE_COUNTS = {name: _SETS[name][0] * _bucket_size(name) for name in _SETS}


cdef int square_in(int view, int square) noexcept:
    """Return Black's square as a view has it."""
    square = inverse_square(square) if view % 2 else square
    return mirror_square(square) if view >= 2 else square


cdef int number_in(int view, int number) noexcept:
    number = features.inverse[number] if view % 2 else number
    return features.mirror[number] if view >= 2 else number


cdef int fill_features(FeatureSet *found, str name) except -1:
    cdef int view, number, color, which, square, perspective, own
    if name not in _SETS:
        raise ValueError(f"unknown features '{name}'; one of {', '.join(_SETS)}")
    buckets, kings = _SETS[name]
    found.count = buckets * _bucket_size(name)
    found.kings = len(kings)
    found.bound = buckets > 1
    for view in range(VIEWS):
        for number in range(BONAPIECES):
            found.number[view][number] = number_in(view, number)
        for color in range(COLORS):
            for which in range(found.kings):
                for square in range(SQUARES):
                    found.king[view][color][which][square] = (
                        BONAPIECES + kings[which][color != view % 2] * SQUARES + square_in(view, square))
    for perspective in range(COLORS):
        for square in range(SQUARES):
            own = square_in(perspective, square)
            view = perspective + 2 * (found.bound and own >= buckets)
            found.view[perspective][square] = view
            found.base[perspective][square] = _bucket_size(name) * square_in(view, square) if found.bound else 0
    return 0
