"""Descriptions of the selectors, and the choice."""

import math

from core_ext.eval.bonapiece cimport LISTED, BONAPIECES, PieceLists, inverse_square, list_pieces
from core_ext.shogi.hand cimport hand_count, hand_field, hand_shift
from core_ext.shogi.types cimport BISHOP, BLACK, GOLD, KNIGHT, LANCE, PAWN, ROOK, SILVER, WHITE

# Groups of pieces in hand; None: eight classes by points.
_HANDS = {
    "": [],
    "hand4": [[BISHOP]],
    "hand16": [[PAWN], [BISHOP]],
    "hand64": [[PAWN, LANCE, KNIGHT], [SILVER, GOLD, ROOK], [BISHOP]],
    "hand64z": None,
    "hand256": [[PAWN, LANCE, KNIGHT], [SILVER, GOLD], [BISHOP], [ROOK]],
    "hand1024": [[PAWN], [LANCE, KNIGHT], [SILVER, GOLD], [BISHOP], [ROOK]],
}
_POINT_CLASSES = 8
# Zones of a king, by rank from the enemy's side: the zone's number, and in how many parts it is divided by files.
_KINGS = {
    "": 9 * [(0, 1)],
    "k3k3": 3 * [(0, 1)] + 3 * [(1, 1)] + 3 * [(2, 1)],
    "k9k9": [(rank, 1) for rank in range(9)],
    "k9k9z": 3 * [(0, 1)] + 3 * [(1, 1)] + [(2, 1), (3, 3), (6, 3)],
    "k13k13z": [(rank, 1) for rank in range(7)] + [(7, 3), (10, 3)],
    "k21k21": 3 * [(0, 1)] + 3 * [(1, 1)] + [(2, 1), (3, 9), (12, 9)],
    "k29k29": 3 * [(0, 1)] + 3 * [(1, 1)] + [(2, 9), (11, 9), (20, 9)],
}
_PROGRESS = {"": 1} | {f"progress{steps}": steps for steps in (2, 3, 4, 8, 16, 32)}
_PROGRESS_VALUES = 256      # of the progress, before it is divided into steps
_MOST_STACKS = 65536


cdef object described(dict known, str name):
    if name not in known:
        raise ValueError(f"unknown layer stack '{name}'; one of {', '.join([*_HANDS, *_KINGS, *_PROGRESS])}")
    return known[name]


cdef int fill_hands(StackSelector *found, list groups) except -1:
    """Turn the types of each group into a mask of the hand's fields."""
    cdef int n, piece_type
    found.groups = 0 if groups is None else len(groups)
    found.hands = _POINT_CLASSES if groups is None else 1 << found.groups
    for n in range(found.groups):
        found.group[n] = 0
        for piece_type in groups[n]:
            found.group[n] |= <Hand>hand_field[piece_type] << hand_shift[piece_type]
    return 0


cdef int fill_zones(StackSelector *found, list ranks) except -1:
    cdef int square
    for square in range(SQUARES):
        first, parts = ranks[square % 9]
        found.zone[square] = first + square // 9 * parts // 9
    found.kings = 1 + max([first + parts - 1 for first, parts in ranks])
    return 0


cdef int fill_steps(StackSelector *found, int steps) except -1:
    """Find the sums at which the steps begin: the progress is 256 times the logistic function of the sum / 2^16."""
    cdef int n
    found.steps = steps
    for n in range(1, steps):
        share = math.ceil(_PROGRESS_VALUES * n / steps) / _PROGRESS_VALUES
        found.step[n - 1] = round(math.log(share / (1 - share)) * 65536)
    return 0


cdef int fill_selector(StackSelector *found, object architecture) except -1:
    fill_hands(found, described(_HANDS, architecture.hands))
    fill_zones(found, described(_KINGS, architecture.kings))
    fill_steps(found, described(_PROGRESS, architecture.progress))
    stacks = found.hands ** 2 * found.kings ** 2 * found.steps
    if stacks > _MOST_STACKS:
        raise ValueError(f"{stacks} layer stacks, at most {_MOST_STACKS} expected")
    return stacks


cdef inline int hand_class(const StackSelector *selector, Hand hand) noexcept nogil:
    cdef int found = 0, n
    for n in range(selector.groups):
        found |= ((hand & selector.group[n]) != 0) << n
    return found


cdef inline int point_class(Hand hand) noexcept nogil:
    """Return 0 for an empty hand, then one class for each four points, 7 at most."""
    cdef int points = hand_count(hand, PAWN) + 2 * (hand_count(hand, LANCE) + hand_count(hand, KNIGHT))
    points += 3 * (hand_count(hand, SILVER) + hand_count(hand, GOLD))
    points += 5 * (hand_count(hand, BISHOP) + hand_count(hand, ROOK))
    return min((points + 3) // 4, 7)


cdef inline int class_of(const StackSelector *selector, Hand hand) noexcept nogil:
    return hand_class(selector, hand) if selector.groups else point_class(hand)


cdef int progress_step(const StackSelector *selector, const Position *pos) noexcept nogil:
    """Return the step of the game's progress: the number of `step` that the sum over both lists has reached."""
    cdef const int32_t *black = selector.progress + pos.king[BLACK] * BONAPIECES
    cdef const int32_t *white = selector.progress + inverse_square(pos.king[WHITE]) * BONAPIECES
    cdef PieceLists lists
    cdef int count = min(list_pieces(pos, &lists), LISTED), found = 0, i
    cdef int64_t sum = selector.bias
    for i in range(count):
        sum += <int64_t>black[lists.numbers[BLACK][i]] + white[lists.numbers[WHITE][i]]
    while found < selector.steps - 1 and sum >= selector.step[found]:
        found += 1
    return found


cdef int select_stack(const StackSelector *selector, const Position *pos) noexcept nogil:
    cdef int us = pos.side, them = us ^ 1, found = 0
    cdef int ours = pos.king[us] if us == BLACK else inverse_square(pos.king[us])
    cdef int theirs = pos.king[them] if them == BLACK else inverse_square(pos.king[them])
    if selector.hands > 1:
        found = class_of(selector, pos.state.hand[us]) * selector.hands + class_of(selector, pos.state.hand[them])
    found = (found * selector.kings + selector.zone[ours]) * selector.kings + selector.zone[theirs]
    return found * selector.steps + progress_step(selector, pos) if selector.steps > 1 else found
