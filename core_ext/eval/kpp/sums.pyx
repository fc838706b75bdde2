"""Full sums, updates, and values. Contracts are in sums.pxd, the formula is in weights.pxd."""

from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from core_ext.base.debug cimport ASSERT
from core_ext.base.memory cimport allocate_zeroed
from core_ext.eval.bonapiece cimport LISTED, features, inverse_square, list_pieces, new_bonapiece, old_bonapiece
from core_ext.eval.incremental cimport NO_KING, plies_since_sums, ply_slot
from core_ext.eval.kpp.weights cimport FV_SCALE, TEMPO_STEP, kkp_row, kp_tempo_row, kpp_row, pp_tempo_row
from core_ext.eval.material cimport material_value, usual_values
from core_ext.shogi.position cimport Dirty, State, find_dirty, full_key, game_length, has_both_kings, state_key
from core_ext.shogi.types cimport BLACK, KING, NO_MOVE, SQUARES, WHITE, color_of, int8_t, int16_t, type_of

cdef extern from "eval/kpp/gather.h" nogil:
    int32_t sum_columns(const int16_t *row, const int32_t *columns, int blocks) noexcept
    int32_t sum_bytes(const int8_t *row, const int32_t *columns, int blocks) noexcept

cdef enum:
    BLOCKS = LIST_SIZE // 8
    BEFORE = 0
    AFTER = 1
    MAX_SUM_UPDATES = 4     # moves in a row; one of them costs about a quarter of a full sum
    MAX_CACHE_UPDATES = 7   # of pieces that differ from a KingCache: each costs about a ninth of a full sum


cdef inline int perspective(int table) noexcept nogil:
    """Return the colour whose numbers index a table of pairs."""
    return BLACK if table == PP_TEMPO else table


cdef inline int king_of(const Sums *sums, int table) noexcept nogil:
    return 0 if table == PP_TEMPO else sums.king[table]


cdef inline int32_t pair_weight(const KppTables *weights, int table, int king, int a, int b) noexcept nogil:
    return pp_tempo_row(weights, a)[b] if table == PP_TEMPO else kpp_row(weights, king, a)[b]


cdef inline int32_t sum_row(const KppTables *weights, int table, int king, int number, const int32_t *numbers,
                            int blocks) noexcept nogil:
    """Sum the pairs of one number with those in `blocks` blocks of eight."""
    if table == PP_TEMPO:
        return sum_bytes(pp_tempo_row(weights, number), numbers, blocks)
    return sum_columns(kpp_row(weights, king, number), numbers, blocks)


cdef inline int32_t sum_kkp(const KppTables *weights, const Sums *sums) noexcept nogil:
    return sum_columns(kkp_row(weights, sums.king[BLACK], inverse_square(sums.king[WHITE])), sums.lists.numbers[BLACK],
                       BLOCKS)


cdef inline int32_t sum_kp_tempo(const KppTables *weights, const Sums *sums, int color) noexcept nogil:
    return sum_columns(kp_tempo_row(weights, sums.king[color]), sums.lists.numbers[color], BLOCKS)


# ---- what a move changes ----

# What a move or taking it back changes: a king's square, and the Bonapiece numbers of other pieces.
cdef struct Change:
    uint64_t key                # of the position after
    int king                    # colour of the king that moves; -1: none
    int king_square             # its destination, from Black's perspective
    int count                   # of numbers: 0 to 2
    int32_t number[2][COLORS][2]    # [BEFORE or AFTER][perspective][which]


cdef inline void set_number(Change *change, int when, int which, int number) noexcept nogil:
    change.number[when][BLACK][which] = number
    change.number[when][WHITE][which] = features.inverse[number]


cdef inline void find_change(const State *state, Change *change, bint undo) noexcept nogil:
    """Find the change by the move that led to `state` or, with `undo`, by taking it back."""
    cdef Dirty dirty
    cdef int i
    find_dirty(state, &dirty)
    change.key = state_key(state - undo)
    change.count = 0
    change.king = -1
    for i in range(dirty.count):
        if type_of(dirty.changed[i].old_piece) == KING:
            change.king = color_of(dirty.changed[i].old_piece)
            change.king_square = dirty.changed[i].old_square if undo else dirty.changed[i].new_square
        else:
            set_number(change, AFTER if undo else BEFORE, change.count, old_bonapiece(&dirty.changed[i]))
            set_number(change, BEFORE if undo else AFTER, change.count, new_bonapiece(&dirty.changed[i]))
            change.count += 1


# ---- full sums ----

cdef int32_t sum_pieces(const KppTables *weights, const PieceLists *lists) noexcept nogil:
    cdef int32_t sum = 0
    cdef int i
    for i in range(LIST_SIZE):
        sum += weights.piece[lists.numbers[BLACK][i]]
    return sum


cdef int32_t sum_pairs(const KppTables *weights, int table, int king, const int32_t *numbers) noexcept nogil:
    """Sum all pairs once: each number's row over the numbers before it, as those not yet written are 0."""
    cdef int32_t before[LIST_SIZE]
    cdef int32_t sum = 0
    cdef int i
    memset(before, 0, sizeof(before))
    for i in range(LISTED):
        sum += sum_row(weights, table, king, numbers[i], before, (i + 7) // 8)
        before[i] = numbers[i]
    return sum


cdef inline void invalidate_rows(Sums *sums) noexcept nogil:
    cdef int table
    for table in range(PAIR_TABLES):
        sums.cached[table] = 0


cdef void sum_from_scratch(const KppTables *weights, Sums *sums, const Position *pos) noexcept nogil:
    cdef int table
    invalidate_rows(sums)
    list_pieces(pos, &sums.lists)
    sums.king[BLACK] = pos.king[BLACK]
    sums.king[WHITE] = inverse_square(pos.king[WHITE])
    sums.pieces = sum_pieces(weights, &sums.lists) + sum_kkp(weights, sums)
    for table in range(PAIR_TABLES):
        sums.pairs[table] = sum_pairs(weights, table, king_of(sums, table), sums.lists.numbers[perspective(table)])
    sums.kp_tempo = sum_kp_tempo(weights, sums, BLACK) + sum_kp_tempo(weights, sums, WHITE)


# ---- updates ----

# A change and the places of its pieces in the lists.
cdef struct Update:
    const Change *change
    int place[2]


cdef inline int place_of(const PieceLists *lists, int number) noexcept nogil:
    cdef int place = 0
    while lists.numbers[BLACK][place] != number:
        place += 1
        ASSERT(place < LISTED)
    return place


cdef inline void update_lists(PieceLists *lists, Update *update) noexcept nogil:
    cdef const Change *change = update.change
    cdef int i
    for i in range(change.count):
        update.place[i] = place_of(lists, change.number[BEFORE][BLACK][i])
        lists.numbers[BLACK][update.place[i]] = change.number[AFTER][BLACK][i]
        lists.numbers[WHITE][update.place[i]] = change.number[AFTER][WHITE][i]


cdef inline int32_t pairs_with(const KppTables *weights, Sums *sums, int table, int place) noexcept nogil:
    """Sum the pairs of one piece, or take the cached sum: moves from one position often move the same piece."""
    cdef const int32_t *numbers = sums.lists.numbers[perspective(table)]
    if not sums.cached[table] >> place & 1:
        sums.cached[table] |= <uint64_t>1 << place
        sums.with_piece[table][place] = sum_row(weights, table, king_of(sums, table), numbers[place], numbers, BLOCKS)
    return sums.with_piece[table][place]


cdef inline int32_t pair_counted_twice(const KppTables *weights, const Sums *sums, int table, const Change *change,
                                       int when) noexcept nogil:
    """Return the pair of both changed pieces, which the row of each includes."""
    cdef const int32_t *changed = change.number[when][perspective(table)]
    return pair_weight(weights, table, king_of(sums, table), changed[0], changed[1]) if change.count == 2 else 0


cdef inline void update_pairs(const KppTables *weights, Sums *old, Sums *new, int table,
                              const Update *update) noexcept nogil:
    """Update the pairs of a king that did not move, or of PP_TEMPO."""
    cdef const Change *change = update.change
    cdef int color = perspective(table), king = king_of(new, table), i
    cdef int32_t sum = (pair_counted_twice(weights, new, table, change, BEFORE)
                        - pair_counted_twice(weights, new, table, change, AFTER))
    for i in range(change.count):
        sum += sum_row(weights, table, king, change.number[AFTER][color][i], new.lists.numbers[color], BLOCKS)
        sum -= pairs_with(weights, old, table, update.place[i])
    new.pairs[table] += sum


cdef inline int32_t row_difference(const int16_t *row, const Change *change, int color) noexcept nogil:
    cdef int32_t sum = 0
    cdef int i
    for i in range(change.count):
        sum += row[change.number[AFTER][color][i]] - row[change.number[BEFORE][color][i]]
    return sum


cdef inline int32_t piece_difference(const KppTables *weights, const Change *change) noexcept nogil:
    cdef int32_t sum = 0
    cdef int i
    for i in range(change.count):
        sum += weights.piece[change.number[AFTER][BLACK][i]] - weights.piece[change.number[BEFORE][BLACK][i]]
    return sum


cdef inline void update_kp_tempo(const KppTables *weights, Sums *new, int color, const Change *change) noexcept nogil:
    """Update the terms of a king that did not move."""
    new.kp_tempo += row_difference(kp_tempo_row(weights, new.king[color]), change, color)


cdef inline int count_differences(const KingCache *cache, const int32_t *numbers) noexcept nogil:
    cdef int i, count = 0
    for i in range(LISTED):
        count += cache.numbers[i] != numbers[i]
    return count


cdef int32_t pairs_of_moved_king(const KppState *state, int color, int king, const int32_t *numbers) noexcept nogil:
    """Sum KPP of a king that has just moved, from the last sum for this square if few pieces differ."""
    cdef KingCache *cache = state.kings + color * SQUARES + king
    cdef int i
    if not cache.valid or count_differences(cache, numbers) > MAX_CACHE_UPDATES:
        cache.valid = True
        cache.pairs = sum_pairs(state.weights, color, king, numbers)
        memcpy(cache.numbers, numbers, sizeof(cache.numbers))
        return cache.pairs
    for i in range(LISTED):
        if cache.numbers[i] != numbers[i]:
            cache.pairs -= sum_columns(kpp_row(state.weights, king, cache.numbers[i]), cache.numbers, BLOCKS)
            cache.numbers[i] = numbers[i]
            cache.pairs += sum_columns(kpp_row(state.weights, king, numbers[i]), cache.numbers, BLOCKS)
    return cache.pairs


cdef inline void update_moved_king(const KppState *state, Sums *old, Sums *new, const Update *update) noexcept nogil:
    """Update after a king's move: its own pairs and KKP all change, the other king's and PP_TEMPO if it captures."""
    cdef const KppTables *weights = state.weights
    cdef const Change *change = update.change
    cdef int us = change.king
    new.king[us] = change.king_square if us == BLACK else inverse_square(change.king_square)
    new.pieces += sum_kkp(weights, new) - sum_kkp(weights, old)
    new.kp_tempo += sum_kp_tempo(weights, new, us) - sum_kp_tempo(weights, old, us)
    new.pairs[us] = pairs_of_moved_king(state, us, new.king[us], new.lists.numbers[us])
    if change.count:
        update_pairs(weights, old, new, us ^ 1, update)
        update_pairs(weights, old, new, PP_TEMPO, update)
        update_kp_tempo(weights, new, us ^ 1, change)


cdef inline void update_pieces(const KppState *state, Sums *old, Sums *new, const Update *update) noexcept nogil:
    """Update after a move of another piece."""
    cdef const KppTables *weights = state.weights
    new.pieces += row_difference(kkp_row(weights, new.king[BLACK], inverse_square(new.king[WHITE])), update.change,
                                 BLACK)
    update_kp_tempo(weights, new, BLACK, update.change)
    update_kp_tempo(weights, new, WHITE, update.change)
    update_pairs(weights, old, new, BLACK, update)
    update_pairs(weights, old, new, WHITE, update)
    update_pairs(weights, old, new, PP_TEMPO, update)


cdef inline void copy_sums(const Sums *old, Sums *new) noexcept nogil:
    memcpy(new.king, old.king, sizeof(new.king))
    memcpy(new.pairs, old.pairs, sizeof(new.pairs))
    memcpy(&new.lists, &old.lists, sizeof(PieceLists))
    new.pieces = old.pieces
    new.kp_tempo = old.kp_tempo
    invalidate_rows(new)


cdef void update_sums(KppState *state, int old_ply, int new_ply, const Change *change) noexcept nogil:
    """Compute the sums after the change from those before it."""
    cdef Sums *old = state.sums + ply_slot(old_ply)
    cdef Sums *new = state.sums + ply_slot(new_ply)
    cdef Update update
    state.keys[ply_slot(new_ply)] = change.key
    update.change = change
    copy_sums(old, new)
    update_lists(&new.lists, &update)
    new.pieces += piece_difference(state.weights, change)
    if change.king >= 0:
        update_moved_king(state, old, new, &update)
    elif change.count:
        update_pieces(state, old, new, &update)


cdef void sum_with_parent(KppState *state, const Position *pos) noexcept nogil:
    """Sum from scratch; then compute the parent's sums by undoing the move, so that its other children can be updated.

    Most nodes near the root have their value from the TT and were never summed.
    """
    cdef int ply = game_length(pos)
    cdef Change change
    state.keys[ply_slot(ply)] = full_key(pos)
    sum_from_scratch(state.weights, state.sums + ply_slot(ply), pos)
    if pos.state != pos.states and pos.state.move != NO_MOVE:
        find_change(pos.state, &change, True)
        update_sums(state, ply, ply - 1, &change)


cdef const Sums *sums_of(KppState *state, const Position *pos) noexcept nogil:
    cdef int ply = game_length(pos), back = plies_since_sums(state.keys, pos, MAX_SUM_UPDATES, NO_KING)
    cdef Change change
    if back < 0:
        sum_with_parent(state, pos)
    while back > 0:
        back -= 1
        find_change(pos.state - back, &change, False)
        update_sums(state, ply - back - 1, ply - back, &change)
    return state.sums + ply_slot(ply)


# ---- values ----

cdef inline int black_sum(const Sums *sums) noexcept nogil:
    return sums.pieces + sums.pairs[BLACK] - sums.pairs[WHITE]


cdef inline int tempo_sum(const KppTables *weights, const Sums *sums) noexcept nogil:
    """Return the tempo terms, for the side to move."""
    return weights.tempo + sums.kp_tempo + TEMPO_STEP * sums.pairs[PP_TEMPO]


cdef inline int value_of(const Position *pos, int for_black, int for_mover) noexcept nogil:
    return ((for_black if pos.side == BLACK else -for_black) + for_mover) // FV_SCALE


cdef inline int value_without_king(const KppState *state, const Position *pos) noexcept nogil:
    return value_of(pos, 0, FV_SCALE * material_value(usual_values, pos) + state.weights.tempo)


cdef int kpp_value(KppState *state, const Position *pos) noexcept nogil:
    cdef const Sums *sums
    if not has_both_kings(pos):
        return value_without_king(state, pos)
    sums = sums_of(state, pos)
    return value_of(pos, black_sum(sums), tempo_sum(state.weights, sums))


cdef int kpp_value_from_scratch(const KppState *state, const Position *pos) noexcept nogil:
    cdef Sums sums
    if not has_both_kings(pos):
        return value_without_king(state, pos)
    sum_from_scratch(state.weights, &sums, pos)
    return value_of(pos, black_sum(&sums), tempo_sum(state.weights, &sums))


cdef void kpp_terms(const KppState *state, const Position *pos, int32_t *terms) noexcept nogil:
    cdef Sums sums
    cdef int tempo = state.weights.tempo
    memset(terms, 0, KPP_TERMS * sizeof(int32_t))
    if has_both_kings(pos):
        sum_from_scratch(state.weights, &sums, pos)
        terms[0] = sum_pieces(state.weights, &sums.lists)
        terms[1] = sums.pieces - terms[0]
        terms[2] = sums.pairs[BLACK]
        terms[3] = -sums.pairs[WHITE]
        tempo = tempo_sum(state.weights, &sums)
    else:
        terms[0] = FV_SCALE * material_value(usual_values, pos) * (1 if pos.side == BLACK else -1)
    terms[4] = tempo if pos.side == BLACK else -tempo


# ---- memory ----

cdef int init_kpp_state(KppState *state, const KppTables *weights) except -1:
    memset(state, 0, sizeof(KppState))
    state.weights = weights
    state.sums = <Sums *>allocate_zeroed(SUMMED_PLIES, sizeof(Sums))
    state.kings = <KingCache *>allocate_zeroed(COLORS * SQUARES, sizeof(KingCache))
    if state.sums == NULL or state.kings == NULL:
        free_kpp_state(state)
        raise MemoryError("no memory for an evaluator")
    return 0


cdef void free_kpp_state(KppState *state) noexcept nogil:
    free(state.sums)
    free(state.kings)
    state.sums = NULL
    state.kings = NULL
