"""Sums of the transformer: by the moves since an earlier ply, and by the pieces that differ."""

from libc.string cimport memcpy, memset

from core_ext.base.debug cimport ASSERT
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.eval.bonapiece cimport features, new_bonapiece, old_bonapiece
from core_ext.eval.incremental cimport NO_KING, plies_since_sums, ply_slot
from core_ext.eval.nnue.features cimport (
    FeatureSet, MAX_ACTIVE, MAX_CHANGED, Viewpoint, king_feature, piece_feature, viewpoint_of,
)
from core_ext.eval.nnue.kernels cimport nnue_accumulate
from core_ext.shogi.bitboard cimport lowest_bit
from core_ext.shogi.hand cimport hand_count
from core_ext.shogi.position cimport Dirty, Position, State, find_dirty, game_length, has_both_kings, state_key
from core_ext.shogi.types cimport *

cdef extern from "base/simd.h" nogil:
    void find_differing(uint64_t *bits, const uint8_t *a, const uint8_t *b) noexcept

cdef enum:
    MAX_ROW_UPDATES = 16    # moves in a row; beyond that a refresh is cheaper

# Features that one move removes and adds, from both perspectives.
cdef struct Change:
    int count
    int32_t removed[COLORS][MAX_CHANGED]
    int32_t added[COLORS][MAX_CHANGED]

# Features by which two positions differ, from one perspective. A position has at most MAX_ACTIVE.
cdef struct Difference:
    int removals
    int additions
    int32_t removed[MAX_ACTIVE]
    int32_t added[MAX_ACTIVE]


cdef inline int16_t *sums_at(const NnueState *state, int perspective, int ply) noexcept nogil:
    return state.sums + (perspective * SUMMED_PLIES + ply_slot(ply)) * <size_t>state.weights.width


cdef inline int cache_slots(const NnueWeights *weights) noexcept nogil:
    """Return the slots of one perspective: one for each square of its king if the features are bound to it."""
    return SQUARES if weights.features.bound else 1


# ---- by moves ----

cdef inline void change_piece(Change *change, const NnueWeights *weights, const Viewpoint *viewpoints, int before,
                              int after) noexcept nogil:
    """Replace one Bonapiece number by another, both from Black's perspective."""
    cdef int perspective
    for perspective in range(COLORS):
        change.removed[perspective][change.count] = piece_feature(&weights.features, viewpoints[perspective], before)
        change.added[perspective][change.count] = piece_feature(&weights.features, viewpoints[perspective], after)
    change.count += 1


cdef inline void change_king(Change *change, const NnueWeights *weights, const Viewpoint *viewpoints, int color,
                             int before, int after) noexcept nogil:
    cdef const FeatureSet *used = &weights.features
    cdef int perspective, which
    for which in range(used.kings):
        for perspective in range(COLORS):
            change.removed[perspective][change.count] = king_feature(used, viewpoints[perspective], which, color,
                                                                     before)
            change.added[perspective][change.count] = king_feature(used, viewpoints[perspective], which, color, after)
        change.count += 1


cdef inline void find_change(const NnueWeights *weights, const Viewpoint *viewpoints, const State *after,
                             Change *change) noexcept nogil:
    """Find the change by the move that led to `after`. Features bound to a king that has moved since are wrong."""
    cdef Dirty dirty
    cdef int i
    find_dirty(after, &dirty)
    change.count = 0
    for i in range(dirty.count):
        if type_of(dirty.changed[i].old_piece) != KING:
            change_piece(change, weights, viewpoints, old_bonapiece(&dirty.changed[i]),
                         new_bonapiece(&dirty.changed[i]))
        else:
            change_king(change, weights, viewpoints, color_of(dirty.changed[i].old_piece), dirty.changed[i].old_square,
                        dirty.changed[i].new_square)


cdef inline void update_from_parent(NnueState *state, const Position *pos, int perspective, int back,
                                    const Change *change) noexcept nogil:
    """Update the sums of `back` plies ago from those of the ply before."""
    cdef const State *one = pos.state - back
    cdef int ply = game_length(pos) - back
    nnue_accumulate(sums_at(state, perspective, ply), sums_at(state, perspective, ply - 1), state.weights.width,
                    state.weights.rows, change.removed[perspective], change.count, change.added[perspective],
                    change.count)
    state.keys[perspective][ply_slot(ply)] = state_key(one)


# ---- by differing pieces ----

cdef inline void add_feature(Difference *found, int feature, bint gone) noexcept nogil:
    if gone:
        found.removed[found.removals] = feature
        found.removals += 1
    else:
        found.added[found.additions] = feature
        found.additions += 1


cdef inline void differ_on_board(Difference *found, const FeatureSet *used, Viewpoint viewpoint, int piece, int square,
                                 bint gone) noexcept nogil:
    cdef int which
    if type_of(piece) != KING:
        add_feature(found, piece_feature(used, viewpoint, features.board_base[piece] + square), gone)
        return
    for which in range(used.kings):
        add_feature(found, king_feature(used, viewpoint, which, color_of(piece), square), gone)


cdef inline void compare_boards(Difference *found, const FeatureSet *used, const RefreshEntry *last,
                                const Position *pos, Viewpoint viewpoint) noexcept nogil:
    cdef uint64_t bits[2]
    cdef int word, square
    find_differing(bits, last.board, pos.board)
    for word in range(2):
        while bits[word]:
            square = 64 * word + lowest_bit(bits[word])
            bits[word] &= bits[word] - 1
            if last.board[square]:
                differ_on_board(found, used, viewpoint, last.board[square], square, True)
            if pos.board[square]:
                differ_on_board(found, used, viewpoint, pos.board[square], square, False)


cdef inline void compare_hands(Difference *found, const FeatureSet *used, const RefreshEntry *last,
                               const Position *pos, Viewpoint viewpoint) noexcept nogil:
    cdef int color, kind, held, before, after, base
    for color in range(COLORS):
        if last.hand[color] == pos.state.hand[color]:
            continue
        for kind in range(PAWN, GOLD + 1):
            base = features.hand_base[color][kind]
            before, after = hand_count(last.hand[color], kind), hand_count(pos.state.hand[color], kind)
            for held in range(after + 1, before + 1):
                add_feature(found, piece_feature(used, viewpoint, base + held), True)
            for held in range(before + 1, after + 1):
                add_feature(found, piece_feature(used, viewpoint, base + held), False)


cdef void refresh(NnueState *state, const Position *pos, int perspective) noexcept nogil:
    """Compute the sums from those of the position last summed with the perspective's own king on this square."""
    cdef const NnueWeights *weights = state.weights
    cdef int king = pos.king[perspective] if weights.features.bound else 0
    cdef size_t slot = perspective * cache_slots(weights) + king
    cdef RefreshEntry *last = state.cache + slot
    cdef int16_t *sums = state.cached_sums + slot * weights.width
    cdef int ply = game_length(pos)
    cdef Viewpoint viewpoint = viewpoint_of(&weights.features, perspective, pos.king[perspective])
    cdef Difference found
    found.removals = found.additions = 0
    compare_boards(&found, &weights.features, last, pos, viewpoint)
    compare_hands(&found, &weights.features, last, pos, viewpoint)
    nnue_accumulate(sums, sums, weights.width, weights.rows, found.removed, found.removals, found.added,
                    found.additions)
    memcpy(last.board, pos.board, sizeof(last.board))
    memcpy(last.hand, pos.state.hand, sizeof(last.hand))
    memcpy(sums_at(state, perspective, ply), sums, weights.width * sizeof(int16_t))
    state.keys[perspective][ply_slot(ply)] = state_key(pos.state)


cdef void accumulate(NnueState *state, const Position *pos, const int16_t **sums) noexcept nogil:
    cdef Change changes[MAX_ROW_UPDATES]
    cdef Viewpoint viewpoints[COLORS]
    cdef int back[COLORS]
    cdef int perspective, king, i
    ASSERT(has_both_kings(pos))
    for perspective in range(COLORS):
        viewpoints[perspective] = viewpoint_of(&state.weights.features, perspective, pos.king[perspective])
        king = make_piece(perspective, KING) if state.weights.features.bound else NO_KING
        back[perspective] = plies_since_sums(state.keys[perspective], pos, MAX_ROW_UPDATES, king)
    for i in range(max(back[BLACK], back[WHITE])):
        find_change(state.weights, viewpoints, pos.state - i, &changes[i])
    for perspective in range(COLORS):
        if back[perspective] < 0:
            refresh(state, pos, perspective)
        for i in range(back[perspective] - 1, -1, -1):
            update_from_parent(state, pos, perspective, i, &changes[i])
        sums[perspective] = sums_at(state, perspective, game_length(pos))


# ---- memory ----

cdef int allocate_sums(NnueState *state, const NnueWeights *weights) except -1:
    cdef size_t row = weights.width * sizeof(int16_t), slots = COLORS * cache_slots(weights), slot
    cdef size_t sums = COLORS * SUMMED_PLIES * row
    cdef char *start
    free_sums(state)
    start = <char *>allocate_large(sums + slots * (row + sizeof(RefreshEntry)), &state.block)
    if start == NULL:
        raise MemoryError("no memory for an evaluator")
    state.weights = weights
    state.sums = <int16_t *>start
    state.cached_sums = <int16_t *>(start + sums)
    state.cache = <RefreshEntry *>(start + sums + slots * row)
    memset(state.keys, 0, sizeof(state.keys))
    for slot in range(slots):
        memcpy(state.cached_sums + slot * weights.width, weights.bias, row)
    return 0


cdef void free_sums(NnueState *state) noexcept nogil:
    release_large(state.block)
    state.block = NULL
    state.sums = NULL
