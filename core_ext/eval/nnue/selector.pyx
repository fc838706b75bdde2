"""Tables of a selector from its description, and the choice."""

from core_ext.eval.bonapiece cimport LISTED, BONAPIECES, PieceLists, inverse_square, list_pieces
from core_ext.shogi.hand cimport hand_count, hand_field, hand_shift
from core_ext.shogi.types cimport BISHOP, BLACK, GOLD, KNIGHT, LANCE, PAWN, ROOK, SILVER, WHITE

cdef int[7] kind_order
kind_order[:] = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK]
cdef enum:
    MAX_HANDS = 256
    MAX_STACKS = 65536


cdef int fill_hands(StackSelector *found, object classes) except -1:
    """Turn the bit or the points of each kind into a mask of the hand's fields for each bit, or a table of points."""
    cdef int n, kind, value
    found.groups, found.hands, found.class_points = 0, 1, 0
    if classes is None:
        return 0
    if (len(classes.kinds) != HAND_KINDS or not all([0 <= value < 1 << HAND_GROUPS for value in classes.kinds])
            or not 0 <= classes.points < 1 << HAND_GROUPS or not 0 < classes.count <= MAX_HANDS):
        raise ValueError(f"no classes of hands: {classes.kinds}, {classes.count} of {classes.points} points")
    found.class_points = classes.points
    found.groups = 0 if classes.points else max(classes.kinds).bit_length()
    found.hands = classes.count if classes.points else 1 << found.groups
    for n in range(HAND_GROUPS):
        found.group[n] = 0
    for kind in range(HAND_KINDS):
        value = found.points[kind] = classes.kinds[kind]
        for n in range(found.groups):
            if value >> n & 1:
                found.group[n] |= <Hand>hand_field[kind_order[kind]] << hand_shift[kind_order[kind]]
    return 0


cdef int fill_zones(StackSelector *found, object zones) except -1:
    cdef int square
    if len(zones) not in (0, SQUARES) or not all([0 <= zone < SQUARES for zone in zones]):
        raise ValueError(f"no zones of a king: {zones}")
    for square in range(SQUARES):
        found.zone[square] = zones[square] if zones else 0
    found.kings = 1 + max(zones, default=0)
    return 0


cdef int fill_steps(StackSelector *found, object starts) except -1:
    cdef int n
    if len(starts) >= MAX_STEPS:
        raise ValueError(f"{len(starts) + 1} steps of progress, at most {MAX_STEPS} expected")
    found.steps = 1 + len(starts)
    for n in range(len(starts)):
        found.step[n] = starts[n]
    return 0


cdef int fill_selector(StackSelector *found, object architecture) except -1:
    fill_hands(found, architecture.hand_classes)
    fill_zones(found, architecture.king_zones)
    fill_steps(found, architecture.progress_starts)
    stacks = found.hands ** 2 * found.kings ** 2 * found.steps
    if stacks > MAX_STACKS:
        raise ValueError(f"{stacks} layer stacks, at most {MAX_STACKS} expected")
    return stacks


cdef inline int hand_class(const StackSelector *selector, Hand hand) noexcept nogil:
    cdef int found = 0, n
    for n in range(selector.groups):
        found |= ((hand & selector.group[n]) != 0) << n
    return found


cdef inline int point_class(const StackSelector *selector, Hand hand) noexcept nogil:
    """Return 0 for an empty hand, then one class for each `class_points`, up to the last class."""
    cdef int points = 0, kind
    for kind in range(HAND_KINDS):
        points += selector.points[kind] * hand_count(hand, kind_order[kind])
    return min((points + selector.class_points - 1) // selector.class_points, selector.hands - 1)


cdef inline int class_of(const StackSelector *selector, Hand hand) noexcept nogil:
    return hand_class(selector, hand) if selector.groups else point_class(selector, hand)


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
