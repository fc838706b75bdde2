"""Sums of the first layer: by the moves since an earlier ply, by the pieces that differ, from scratch."""

from libc.string cimport memcpy, memset

from core_ext.base.debug cimport ASSERT
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.eval.bonapiece cimport LISTED, PieceLists, features, list_pieces, new_bonapiece, old_bonapiece
from core_ext.eval.nnue.features cimport HALF_KP, MAX_ACTIVE, king_feature, piece_base, seen_number
from core_ext.eval.nnue.layers cimport nnue_accumulate, portable_accumulate
from core_ext.shogi.hand cimport hand_count
from core_ext.shogi.position cimport Dirty, Position, State, find_dirty, full_key, game_length
from core_ext.shogi.types cimport (
    BLACK, COLORS, GOLD, KING, NO_SQUARE, PAWN, SQUARES, WHITE, color_of, int16_t, int32_t, make_piece, moved_piece,
    type_of, uint64_t,
)

cdef enum:
    FOLLOWED_PLIES = 8      # more moves than this cost more than the pieces that differ from the last refresh

# Features that one move takes away and brings, for both views.
cdef struct Change:
    int count
    int32_t removed[COLORS][2]
    int32_t added[COLORS][2]

# Features by which two positions differ, for one view; at most MAX_ACTIVE of each where pieces are complete.
cdef struct Difference:
    int removals
    int additions
    int32_t removed[MAX_ACTIVE + 8]
    int32_t added[MAX_ACTIVE + 8]


cdef inline int16_t *frame_sums(const NnueState *state, int view, int ply) noexcept nogil:
    return state.sums + (view * NNUE_FRAMES + (ply & (NNUE_FRAMES - 1))) * <size_t>state.weights.width


cdef inline int refresh_slots(const NnueWeights *weights) noexcept nogil:
    """King squares told apart, of one view."""
    return SQUARES if weights.kind == HALF_KP else 1


# ---- by moves ----

cdef inline void change_piece(Change *change, const NnueWeights *weights, const Position *pos, int before,
                              int after) noexcept nogil:
    """From one Bonapiece number to another, as Black sees them."""
    cdef int view, base
    for view in range(COLORS):
        base = piece_base(weights.kind, view, pos.king[view])
        change.removed[view][change.count] = base + seen_number(view, before)
        change.added[view][change.count] = base + seen_number(view, after)
    change.count += 1


cdef inline void change_king(Change *change, int color, int before, int after) noexcept nogil:
    cdef int view
    for view in range(COLORS):
        change.removed[view][change.count] = king_feature(view, color, before)
        change.added[view][change.count] = king_feature(view, color, after)
    change.count += 1


cdef inline void find_change(const NnueWeights *weights, const Position *pos, const State *after,
                             Change *change) noexcept nogil:
    """Of the move that led to a state. With HalfKP the viewer's king must not have moved from there to `pos`."""
    cdef Dirty dirty
    cdef int i
    find_dirty(after, &dirty)
    change.count = 0
    for i in range(dirty.count):
        if type_of(dirty.changed[i].old_piece) != KING:
            change_piece(change, weights, pos, old_bonapiece(&dirty.changed[i]), new_bonapiece(&dirty.changed[i]))
        elif weights.kind != HALF_KP:
            change_king(change, color_of(dirty.changed[i].old_piece), dirty.changed[i].old_square,
                        dirty.changed[i].new_square)


cdef inline int plies_back(const NnueState *state, const Position *pos, int view) noexcept nogil:
    """How many plies ago sums stand that moves lead on from; -1 where none are near."""
    cdef const uint64_t *keys = state.keys[view]
    cdef const State *one = pos.state
    cdef int ply = game_length(pos), back
    for back in range(min(ply, FOLLOWED_PLIES) + 1):
        if keys[(ply - back) & (NNUE_FRAMES - 1)] == one.board_key ^ one.hand_key:
            return back
        if state.weights.kind == HALF_KP and moved_piece(one.move) == make_piece(view, KING):
            return -1
        one -= 1
    return -1


cdef inline void follow(NnueState *state, const Position *pos, int view, int back, const Change *change) noexcept nogil:
    """The sums of `back` plies ago, from those of the ply before."""
    cdef const State *one = pos.state - back
    cdef int ply = game_length(pos) - back
    nnue_accumulate(frame_sums(state, view, ply), frame_sums(state, view, ply - 1), state.weights.width,
                    state.weights.rows, change.removed[view], change.count, change.added[view], change.count)
    state.keys[view][ply & (NNUE_FRAMES - 1)] = one.board_key ^ one.hand_key


# ---- by differing pieces ----

cdef inline void differ_on_board(Difference *found, const NnueWeights *weights, int view, int base, int piece,
                                 int square, bint gone) noexcept nogil:
    cdef int feature
    if type_of(piece) != KING:
        feature = base + seen_number(view, features.board_base[piece] + square)
    elif weights.kind != HALF_KP:
        feature = king_feature(view, color_of(piece), square)
    else:
        return
    if gone:
        found.removed[found.removals] = feature
        found.removals += 1
    else:
        found.added[found.additions] = feature
        found.additions += 1


cdef inline void compare_boards(Difference *found, const NnueWeights *weights, const Refreshed *last,
                                const Position *pos, int view, int base) noexcept nogil:
    """Eight squares at a time; most are alike."""
    cdef uint64_t before, after
    cdef int eight, square
    for eight in range(0, SQUARES + 7, 8):
        memcpy(&before, last.board + eight, 8)
        memcpy(&after, pos.board + eight, 8)
        if before == after:
            continue
        for square in range(eight, min(eight + 8, SQUARES)):
            if last.board[square] == pos.board[square]:
                continue
            if last.board[square]:
                differ_on_board(found, weights, view, base, last.board[square], square, True)
            if pos.board[square]:
                differ_on_board(found, weights, view, base, pos.board[square], square, False)


cdef inline void compare_hands(Difference *found, const Refreshed *last, const Position *pos, int view,
                               int base) noexcept nogil:
    cdef int color, kind, held, before, after
    for color in range(COLORS):
        if last.hand[color] == pos.state.hand[color]:
            continue
        for kind in range(PAWN, GOLD + 1):
            before, after = hand_count(last.hand[color], kind), hand_count(pos.state.hand[color], kind)
            for held in range(after + 1, before + 1):
                found.removed[found.removals] = base + seen_number(view, features.hand_base[color][kind] + held)
                found.removals += 1
            for held in range(before + 1, after + 1):
                found.added[found.additions] = base + seen_number(view, features.hand_base[color][kind] + held)
                found.additions += 1


cdef void refresh(NnueState *state, const Position *pos, int view) noexcept nogil:
    """One view's sums, from those of the position last summed with its king on this square."""
    cdef const NnueWeights *weights = state.weights
    cdef int king = pos.king[view] if weights.kind == HALF_KP else 0
    cdef size_t slot = view * refresh_slots(weights) + king
    cdef Refreshed *last = state.refreshed + slot
    cdef int16_t *sums = state.refreshed_sums + slot * weights.width
    cdef int ply = game_length(pos), base = piece_base(weights.kind, view, pos.king[view])
    cdef Difference found
    found.removals = found.additions = 0
    compare_boards(&found, weights, last, pos, view, base)
    compare_hands(&found, last, pos, view, base)
    nnue_accumulate(sums, sums, weights.width, weights.rows, found.removed, found.removals, found.added,
                    found.additions)
    memcpy(last.board, pos.board, sizeof(last.board))
    memcpy(last.hand, pos.state.hand, sizeof(last.hand))
    memcpy(frame_sums(state, view, ply), sums, weights.width * sizeof(int16_t))
    state.keys[view][ply & (NNUE_FRAMES - 1)] = full_key(pos)


cdef void accumulate(NnueState *state, const Position *pos, const int16_t **sums) noexcept nogil:
    cdef Change changes[FOLLOWED_PLIES]
    cdef int back[COLORS]
    cdef int view, i
    ASSERT(pos.king[BLACK] != NO_SQUARE and pos.king[WHITE] != NO_SQUARE)
    for view in range(COLORS):
        back[view] = plies_back(state, pos, view)
    for i in range(max(back[BLACK], back[WHITE])):
        find_change(state.weights, pos, pos.state - i, &changes[i])
    for view in range(COLORS):
        if back[view] < 0:
            refresh(state, pos, view)
        for i in range(back[view] - 1, -1, -1):
            follow(state, pos, view, i, &changes[i])
        sums[view] = frame_sums(state, view, game_length(pos))


# ---- from scratch ----

cdef int list_features(const NnueWeights *weights, const Position *pos, int view, int32_t *listed) noexcept nogil:
    """All active features of one view; returns how many."""
    cdef PieceLists lists
    cdef int count = min(list_pieces(pos, &lists), LISTED), color, i
    cdef int base = piece_base(weights.kind, view, pos.king[view])
    for i in range(count):
        listed[i] = base + lists.seen[view][i]
    if weights.kind != HALF_KP:
        for color in range(COLORS):
            listed[count] = king_feature(view, color, pos.king[color])
            count += 1
    return count


cdef void accumulate_anew(const NnueWeights *weights, const Position *pos, int16_t *sums) noexcept nogil:
    cdef int32_t listed[MAX_ACTIVE]
    cdef int view, count
    for view in range(COLORS):
        count = list_features(weights, pos, view, listed)
        portable_accumulate(sums + view * weights.width, weights.bias, weights.width, weights.rows, NULL, 0, listed,
                            count)


# ---- memory ----

cdef int allocate_sums(NnueState *state, const NnueWeights *weights) noexcept nogil:
    cdef size_t row = weights.width * sizeof(int16_t), slots = COLORS * refresh_slots(weights), slot
    cdef size_t frames = COLORS * NNUE_FRAMES * row
    cdef char *start
    free_sums(state)
    start = <char *>allocate_large(frames + slots * (row + sizeof(Refreshed)), &state.block)
    if start == NULL:
        return -1
    state.weights = weights
    state.sums = <int16_t *>start
    state.refreshed_sums = <int16_t *>(start + frames)
    state.refreshed = <Refreshed *>(start + frames + slots * row)
    memset(state.keys, 0, sizeof(state.keys))
    for slot in range(slots):
        memcpy(state.refreshed_sums + slot * weights.width, weights.bias, row)
    return 0


cdef void free_sums(NnueState *state) noexcept nogil:
    release_large(state.block)
    state.block = NULL
    state.sums = NULL
