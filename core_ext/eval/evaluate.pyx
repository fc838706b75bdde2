"""Full sums, differences from an earlier ply, and the memory of the weights. See evaluate.pxd for the formula."""

from cpython.buffer cimport PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from core_ext.base.debug cimport ASSERT
from core_ext.eval.bonapiece cimport (
    BONAPIECES, HALF_SQUARES, LISTED, LIST_SIZE, PAIRS, PieceLists, features, inverse_square, list_pieces,
    mirror_square,
    new_bonapiece, old_bonapiece,
)
from core_ext.eval.symmetry cimport (
    KKP_SHARE, folded_place, in_the_middle, king_pair_place, mirrored, pair_place, piece_place,
)
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.shogi.position cimport Dirty, Position, State, find_dirty, full_key, game_length
from core_ext.shogi.see cimport see_value
from core_ext.shogi.types cimport (
    BLACK, COLORS, DRAGON, GOLD, HORSE, KING, MATE_BOUND, NO_MOVE, NO_SQUARE, PAWN, SQUARES, WHITE, color_of, int8_t,
    int16_t, int32_t, make_piece, type_of, uint64_t,
)

cdef extern from "eval/kpp/gather.h" nogil:
    int32_t sum_columns(const int16_t *row, const int32_t *columns, int blocks) noexcept
    int32_t sum_bytes(const int8_t *row, const int32_t *columns, int blocks) noexcept

cdef enum:
    BLOCKS = LIST_SIZE // 8
    FOLLOWED_PLIES = 4      # following a move costs about a quarter of a full sum
    RETOLD_PIECES = 7       # a piece that differs costs about a ninth of it

cdef Terms plain_terms      # piece values alone


cdef void set_plain_pieces(int32_t *piece) noexcept:
    """The exchange values of static exchange evaluation, Black's pieces positive."""
    cdef int color, kind, n, sign, value
    memset(piece, 0, BONAPIECES * sizeof(int32_t))
    for color in range(COLORS):
        sign = 1 if color == BLACK else -1
        for kind in range(PAWN, GOLD + 1):
            value = sign * FV_SCALE * see_value(kind)
            for n in range(1, features.inverse[features.hand_base[BLACK][kind]] - features.hand_base[BLACK][kind]):
                piece[features.hand_base[color][kind] + n] = value
        for kind in range(PAWN, DRAGON + 1):
            if kind <= GOLD or kind >= HORSE:
                value = sign * FV_SCALE * see_value(kind)
                for n in range(SQUARES):
                    piece[features.board_base[make_piece(color, kind)] + n] = value


set_plain_pieces(plain_terms.piece)


cdef inline const int16_t *kkp_row(const Terms *terms, const Sums *sums) noexcept nogil:
    return terms.kkp + (sums.king[BLACK] * SQUARES + inverse_square(sums.king[WHITE])) * BONAPIECES


cdef inline const int16_t *kpp_row(const Terms *terms, int king, int number) noexcept nogil:
    return terms.kpp + (<size_t>king * BONAPIECES + number) * BONAPIECES


cdef inline const int16_t *turn_row(const Terms *terms, int king) noexcept nogil:
    return terms.kp_turn + king * BONAPIECES


cdef inline int32_t pair_weight(const Terms *terms, int table, int king, int a, int b) noexcept nogil:
    """Of two numbers, in a king's table or in that of the turn, which knows no king."""
    return terms.pp_turn[a * BONAPIECES + b] if table == TURN else kpp_row(terms, king, a)[b]


cdef inline int32_t sum_row(const Terms *terms, int table, int king, int number, const int32_t *numbers,
                            int blocks) noexcept nogil:
    """The pairs of one number with eight, or 16, ... others."""
    if table == TURN:
        return sum_bytes(terms.pp_turn + number * BONAPIECES, numbers, blocks)
    return sum_columns(kpp_row(terms, king, number), numbers, blocks)


cdef inline int king_in(const Sums *sums, int table) noexcept nogil:
    return 0 if table == TURN else sums.king[table]


cdef inline int viewer(int table) noexcept nogil:
    """The colour whose numbers a table of pairs goes by."""
    return BLACK if table == TURN else table


# ---- full sums ----

cdef int32_t sum_pieces(const Terms *terms, const PieceLists *lists) noexcept nogil:
    cdef int32_t sum = 0
    cdef int i
    for i in range(LIST_SIZE):
        sum += terms.piece[lists.seen[BLACK][i]]
    return sum


cdef int32_t sum_pairs(const Terms *terms, int table, int king, const int32_t *numbers) noexcept nogil:
    """Over all pairs. Each row is summed over the numbers before it; those not yet written are 0."""
    cdef int32_t before[LIST_SIZE]
    cdef int32_t sum = 0
    cdef int i
    memset(before, 0, sizeof(before))
    for i in range(LISTED):
        sum += sum_row(terms, table, king, numbers[i], before, (i + 7) // 8)
        before[i] = numbers[i]
    return sum


cdef inline void forget_rows(Sums *sums) noexcept nogil:
    cdef int table
    for table in range(TABLES):
        sums.known[table] = 0


cdef void sum_anew(const Terms *terms, Sums *sums, const Position *pos) noexcept nogil:
    cdef int table, color
    sums.key = full_key(pos)
    forget_rows(sums)
    list_pieces(pos, &sums.lists)
    sums.pieces = sum_pieces(terms, &sums.lists)
    if terms.kpp == NULL:
        return
    sums.king[BLACK] = pos.king[BLACK]
    sums.king[WHITE] = inverse_square(pos.king[WHITE])
    sums.pieces += sum_columns(kkp_row(terms, sums), sums.lists.seen[BLACK], BLOCKS)
    for table in range(TABLES):
        sums.pairs[table] = sum_pairs(terms, table, king_in(sums, table), sums.lists.seen[viewer(table)])
    sums.turn = 0
    for color in range(COLORS):
        sums.turn += sum_columns(turn_row(terms, sums.king[color]), sums.lists.seen[color], BLOCKS)


# ---- differences ----

# What a move changed, or what taking it back does: a king's step, and of the other pieces places in the lists and
# numbers before and after as each colour sees them.
cdef struct Change:
    uint64_t key                # of the position after
    int king                    # colour of the king that steps; -1: none does
    int target                  # where to, as Black sees it
    int count
    int place[2]
    int32_t number[2][COLORS][2]    # [BEFORE or AFTER][colour][which]

cdef enum:
    BEFORE = 0
    AFTER = 1


cdef inline int place_of(const PieceLists *lists, int number) noexcept nogil:
    cdef int place = 0
    while lists.seen[BLACK][place] != number:
        place += 1
        ASSERT(place < LISTED)
    return place


cdef inline void set_number(Change *change, int when, int i, int number) noexcept nogil:
    change.number[when][BLACK][i] = number
    change.number[when][WHITE][i] = features.inverse[number]


cdef inline void find_change(const State *state, Change *change, bint back) noexcept nogil:
    """Of the move that led to `state`; with `back`, of taking it back."""
    cdef Dirty dirty
    cdef const State *goal = state - back
    cdef int i
    find_dirty(state, &dirty)
    change.key = goal.board_key ^ goal.hand_key
    change.count = 0
    change.king = -1
    for i in range(dirty.count):
        if type_of(dirty.changed[i].old_piece) == KING:
            change.king = color_of(dirty.changed[i].old_piece)
            change.target = dirty.changed[i].old_square if back else dirty.changed[i].new_square
        else:
            set_number(change, AFTER if back else BEFORE, change.count, old_bonapiece(&dirty.changed[i]))
            set_number(change, BEFORE if back else AFTER, change.count, new_bonapiece(&dirty.changed[i]))
            change.count += 1


cdef inline void replace(Sums *sums, Change *change) noexcept nogil:
    cdef int i
    for i in range(change.count):
        change.place[i] = place_of(&sums.lists, change.number[BEFORE][BLACK][i])
        sums.lists.seen[BLACK][change.place[i]] = change.number[AFTER][BLACK][i]
        sums.lists.seen[WHITE][change.place[i]] = change.number[AFTER][WHITE][i]


cdef inline int32_t pairs_with(const Terms *terms, Sums *sums, int table, int place) noexcept nogil:
    """The pairs with one piece in them. Kept: moves from one position often move the same piece."""
    cdef const int32_t *seen = sums.lists.seen[viewer(table)]
    if not sums.known[table] >> place & 1:
        sums.known[table] |= <uint64_t>1 << place
        sums.with_piece[table][place] = sum_row(terms, table, king_in(sums, table), seen[place], seen, BLOCKS)
    return sums.with_piece[table][place]


cdef inline int32_t pair_counted_twice(const Terms *terms, const Sums *sums, int table, const Change *change,
                                       int when) noexcept nogil:
    """The pair of both changed pieces, which each of them counted."""
    cdef const int32_t *changed = change.number[when][viewer(table)]
    return pair_weight(terms, table, king_in(sums, table), changed[0], changed[1]) if change.count == 2 else 0


cdef inline void follow_pairs(const Terms *terms, Sums *old, Sums *new, int table, const Change *change) noexcept nogil:
    """Of a king that did not move, or of the turn."""
    cdef int color = viewer(table), king = king_in(new, table), i
    cdef int32_t sum = (pair_counted_twice(terms, new, table, change, BEFORE)
                        - pair_counted_twice(terms, new, table, change, AFTER))
    for i in range(change.count):
        sum += sum_row(terms, table, king, change.number[AFTER][color][i], new.lists.seen[color], BLOCKS)
        sum -= pairs_with(terms, old, table, change.place[i])
    new.pairs[table] += sum


cdef inline void follow_kkp(const Terms *terms, Sums *new, const Change *change) noexcept nogil:
    cdef const int16_t *row = kkp_row(terms, new)
    cdef int i
    for i in range(change.count):
        new.pieces += row[change.number[AFTER][BLACK][i]] - row[change.number[BEFORE][BLACK][i]]


cdef inline void follow_turn(const Terms *terms, Sums *new, int color, const Change *change) noexcept nogil:
    """KP of the turn, of a king that did not move."""
    cdef const int16_t *row = turn_row(terms, new.king[color])
    cdef int i
    for i in range(change.count):
        new.turn += row[change.number[AFTER][color][i]] - row[change.number[BEFORE][color][i]]


cdef inline int count_changed(const KingSum *kept, const int32_t *numbers) noexcept nogil:
    cdef int i, count = 0
    for i in range(LISTED):
        count += kept.numbers[i] != numbers[i]
    return count


cdef int32_t pairs_of_king(const Evaluator *evaluator, int color, int king, const int32_t *numbers) noexcept nogil:
    """KPP of a king that has just stepped: from what was last summed for this square, where few pieces differ."""
    cdef KingSum *kept = evaluator.kings + color * SQUARES + king
    cdef const Terms *terms = evaluator.terms
    cdef int i
    if not kept.known or count_changed(kept, numbers) > RETOLD_PIECES:
        kept.known = True
        kept.pairs = sum_pairs(terms, color, king, numbers)
        memcpy(kept.numbers, numbers, sizeof(kept.numbers))
        return kept.pairs
    for i in range(LISTED):
        if kept.numbers[i] != numbers[i]:
            kept.pairs -= sum_columns(kpp_row(terms, king, kept.numbers[i]), kept.numbers, BLOCKS)
            kept.numbers[i] = numbers[i]
            kept.pairs += sum_columns(kpp_row(terms, king, numbers[i]), kept.numbers, BLOCKS)
    return kept.pairs


cdef inline void follow_king(const Evaluator *evaluator, Sums *old, Sums *new, const Change *change) noexcept nogil:
    """The king's own pairs and KKP all change; the other king and the turn see a captured piece go."""
    cdef const Terms *terms = evaluator.terms
    cdef int us = change.king
    new.pieces -= sum_columns(kkp_row(terms, old), old.lists.seen[BLACK], BLOCKS)
    new.turn -= sum_columns(turn_row(terms, old.king[us]), old.lists.seen[us], BLOCKS)
    new.king[us] = change.target if us == BLACK else inverse_square(change.target)
    new.pieces += sum_columns(kkp_row(terms, new), new.lists.seen[BLACK], BLOCKS)
    new.turn += sum_columns(turn_row(terms, new.king[us]), new.lists.seen[us], BLOCKS)
    new.pairs[us] = pairs_of_king(evaluator, us, new.king[us], new.lists.seen[us])
    if change.count:
        follow_pairs(terms, old, new, us ^ 1, change)
        follow_pairs(terms, old, new, TURN, change)
        follow_turn(terms, new, us ^ 1, change)


cdef inline void copy_sums(const Sums *old, Sums *new) noexcept nogil:
    """All but the key and the sum of the pieces."""
    memcpy(new.king, old.king, sizeof(new.king))
    memcpy(new.pairs, old.pairs, sizeof(new.pairs))
    memcpy(&new.lists, &old.lists, sizeof(PieceLists))
    new.turn = old.turn
    forget_rows(new)


cdef void follow(const Evaluator *evaluator, Sums *old, Sums *new, Change *change) noexcept nogil:
    """The sums after the change, from those before it."""
    cdef const Terms *terms = evaluator.terms
    cdef int i
    new.key = change.key
    new.pieces = old.pieces
    for i in range(change.count):
        new.pieces += terms.piece[change.number[AFTER][BLACK][i]] - terms.piece[change.number[BEFORE][BLACK][i]]
    if terms.kpp == NULL:
        return
    copy_sums(old, new)
    replace(new, change)
    if change.king >= 0:
        follow_king(evaluator, old, new, change)
    elif change.count:
        follow_kkp(terms, new, change)
        follow_turn(terms, new, BLACK, change)
        follow_turn(terms, new, WHITE, change)
        follow_pairs(terms, old, new, BLACK, change)
        follow_pairs(terms, old, new, WHITE, change)
        follow_pairs(terms, old, new, TURN, change)


cdef inline Sums *frame_at(const Evaluator *evaluator, int ply) noexcept nogil:
    return evaluator.frames + (ply & (EVALUATOR_FRAMES - 1))


cdef inline int known_plies_back(const Evaluator *evaluator, const Position *pos) noexcept nogil:
    """How many plies ago the sums are known; -1 where it is too long."""
    cdef int ply = game_length(pos), back
    cdef const State *state
    for back in range(min(ply, FOLLOWED_PLIES) + 1):
        state = pos.state - back
        if frame_at(evaluator, ply - back).key == state.board_key ^ state.hand_key:
            return back
    return -1


cdef inline bint has_parent(const Position *pos) noexcept nogil:
    return pos.state != pos.states and pos.state.move != NO_MOVE


cdef void begin_line(Evaluator *evaluator, const Position *pos) noexcept nogil:
    """Nothing is known near: sum anew, and give the parent its sums too, for the moves to be tried beside this one.

    (The table knows the values of most nodes near the root, so they were never summed.)
    """
    cdef int ply = game_length(pos)
    cdef Change change
    sum_anew(evaluator.terms, frame_at(evaluator, ply), pos)
    if evaluator.terms.kpp != NULL and has_parent(pos):
        find_change(pos.state, &change, True)
        follow(evaluator, frame_at(evaluator, ply), frame_at(evaluator, ply - 1), &change)


cdef const Sums *sums_of(Evaluator *evaluator, const Position *pos) noexcept nogil:
    cdef int ply = game_length(pos), back = known_plies_back(evaluator, pos)
    cdef Change change
    if back < 0:
        begin_line(evaluator, pos)
    while back > 0:
        back -= 1
        find_change(pos.state - back, &change, False)
        follow(evaluator, frame_at(evaluator, ply - back - 1), frame_at(evaluator, ply - back), &change)
    return frame_at(evaluator, ply)


# ---- values ----

cdef inline bint kings_stand(const Position *pos) noexcept nogil:
    return pos.king[BLACK] != NO_SQUARE and pos.king[WHITE] != NO_SQUARE


cdef int without_kings(const Position *pos) noexcept nogil:
    """A problem with one king only: its plain pieces, for Black."""
    cdef PieceLists lists
    list_pieces(pos, &lists)
    return sum_pieces(&plain_terms, &lists)


cdef inline int turn_of(const Sums *sums) noexcept nogil:
    """Beside its tempo."""
    return sums.turn + TURN_STEP * sums.pairs[TURN]


cdef int evaluate(Evaluator *evaluator, const Position *pos) noexcept nogil:
    cdef const Sums *sums
    cdef int sum, turn = evaluator.terms.tempo
    if not kings_stand(pos):
        sum = without_kings(pos)
    else:
        sums = sums_of(evaluator, pos)
        sum = sums.pieces
        if evaluator.terms.kpp != NULL:
            sum += sums.pairs[BLACK] - sums.pairs[WHITE]
            turn += turn_of(sums)
    sum = (sum if pos.side == BLACK else -sum) + turn
    return max(-MATE_BOUND + 1, min(MATE_BOUND - 1, sum // FV_SCALE))


cdef inline int turn_for_black(const Position *pos, int turn) noexcept nogil:
    return turn if pos.side == BLACK else -turn


cdef void evaluate_terms(const Evaluator *evaluator, const Position *pos, int32_t *terms) noexcept nogil:
    cdef Sums sums
    memset(terms, 0, EVALUATION_TERMS * sizeof(int32_t))
    terms[4] = turn_for_black(pos, evaluator.terms.tempo)
    if not kings_stand(pos):
        terms[0] = without_kings(pos)
        return
    sum_anew(evaluator.terms, &sums, pos)
    terms[0] = sum_pieces(evaluator.terms, &sums.lists)
    if evaluator.terms.kpp != NULL:
        terms[1] = sums.pieces - terms[0]
        terms[2] = sums.pairs[BLACK]
        terms[3] = -sums.pairs[WHITE]
        terms[4] = turn_for_black(pos, evaluator.terms.tempo + turn_of(&sums))


# ---- memory ----

cdef int init_evaluator(Evaluator *evaluator, Weights weights) except -1:
    if evaluator.frames == NULL:
        evaluator.frames = <Sums *>calloc(EVALUATOR_FRAMES, sizeof(Sums))
        evaluator.kings = <KingSum *>calloc(COLORS * SQUARES, sizeof(KingSum))
        if evaluator.frames == NULL or evaluator.kings == NULL:
            free_evaluator(evaluator)
            raise MemoryError("no memory for an evaluator")
    memset(evaluator.frames, 0, EVALUATOR_FRAMES * sizeof(Sums))
    memset(evaluator.kings, 0, COLORS * SQUARES * sizeof(KingSum))
    evaluator.terms = &plain_terms if weights is None else &weights.terms
    return 0


cdef void free_evaluator(Evaluator *evaluator) noexcept nogil:
    free(evaluator.frames)
    free(evaluator.kings)
    evaluator.frames = NULL
    evaluator.kings = NULL


cdef enum:
    TILE = 36               # a multiple of nine divides BONAPIECES
    TURN_BYTES = (2 * SQUARES + BONAPIECES) * BONAPIECES


cdef inline int16_t saturated(int32_t value) noexcept nogil:
    return <int16_t>max(-32768, min(32767, value))


cdef int32_t seen_kkp(const int16_t *kp, const int16_t *kkp, int step, int king, int other, int number) noexcept nogil:
    """KP and KKP of a piece as the king's colour sees it, unfolded."""
    if mirrored(king):
        king = mirror_square(king)
        other = mirror_square(other)
        number = features.mirror[number]
    return (kp[king * BONAPIECES + piece_place(king, number)]
            + step * kkp[king * KKP_SHARE + king_pair_place(king, other, number)])


cdef void unfold_kkp(int16_t *out, const int16_t *kp, const int16_t *kkp, int step) noexcept nogil:
    cdef int black, white, number
    cdef int32_t weight
    for black in range(SQUARES):
        for white in range(SQUARES):
            for number in range(1, BONAPIECES):
                weight = seen_kkp(kp, kkp, step, black, white, number)
                weight -= seen_kkp(kp, kkp, step, inverse_square(white), inverse_square(black),
                                   features.inverse[number])
                out[(black * SQUARES + white) * BONAPIECES + number] = saturated(weight)


cdef void unfold_lower(int16_t *out, const int16_t *pp, const int16_t *kpp, int step, int king) noexcept nogil:
    """KPP of one king on files 1 to 5: the pairs (a, b) with b < a. The diagonal stays 0, and number 0, which pads."""
    cdef int a, b, place
    for a in range(1, BONAPIECES):
        place = a * (a + 1) // 2
        for b in range(1, a):
            if in_the_middle(king):
                place = pair_place(king, a, b) - b
            out[a * BONAPIECES + b] = saturated(pp[place + b] + step * kpp[place + b])


cdef void unfold_upper(int16_t *out) noexcept nogil:
    """The pairs in the other order, a tile at a time: a column is as far from the next one as a page."""
    cdef int tile, left, a, b
    for tile in range(BONAPIECES // TILE):
        for left in range(tile + 1):
            for b in range(TILE * left, TILE * (left + 1)):
                for a in range(max(TILE * tile, b + 1), TILE * (tile + 1)):
                    out[b * BONAPIECES + a] = out[a * BONAPIECES + b]


cdef void unfold_mirror(int16_t *out, const int16_t *image) noexcept nogil:
    """KPP of a king on files 6 to 9 from that of its mirror image."""
    cdef int a, b
    cdef const int16_t *row
    for a in range(BONAPIECES):
        row = image + features.mirror[a] * BONAPIECES
        for b in range(BONAPIECES):
            out[a * BONAPIECES + b] = row[features.mirror[b]]


cdef void unfold_kp_turn(int16_t *out, const int16_t *kp) noexcept nogil:
    cdef int king, number, place
    for king in range(SQUARES):
        for number in range(1, BONAPIECES):
            place = mirror_square(king) * BONAPIECES + features.mirror[number] if mirrored(king) else \
                king * BONAPIECES + piece_place(king, number)
            out[king * BONAPIECES + number] = kp[place]


cdef void unfold_pp_turn(int8_t *out, const int16_t *pp) noexcept nogil:
    """The diagonal stays 0, and number 0, which pads."""
    cdef int a, b, word
    cdef float sign
    for a in range(1, BONAPIECES):
        for b in range(1, a):
            word = max(-128, min(127, pp[folded_place(a, b, &sign)]))
            out[a * BONAPIECES + b] = out[b * BONAPIECES + a] = <int8_t>word


cdef class Weights:

    def __cinit__(self):
        set_plain_pieces(self.terms.piece)

    def __dealloc__(self):
        release_large(self.kkp_block)
        release_large(self.kpp_block)
        release_large(self.turn_block)

    def allocate(self):
        """Room for the unfolded weights. MemoryError."""
        if self.kpp == NULL:
            # A gather reads two bytes beyond the last weight.
            self.kkp = <int16_t *>allocate_large(<size_t>SQUARES * KKP_SHARE * 2 + 2, &self.kkp_block)
            self.kpp = <int16_t *>allocate_large(<size_t>SQUARES * BONAPIECES * BONAPIECES * 2 + 2, &self.kpp_block)
            self.kp_turn = <int16_t *>allocate_large(TURN_BYTES + 3, &self.turn_block)
            self.pp_turn = <int8_t *>(self.kp_turn + SQUARES * BONAPIECES)
        if self.kkp == NULL or self.kpp == NULL or self.kp_turn == NULL:
            raise MemoryError("no memory for the evaluation's weights, 415 MB")

    def unfold_pieces(self, const int32_t[::1] piece, const int16_t[::1] kp, const int16_t[::1] kkp, int kkp_step):
        """Piece values, KP and KKP; sizes BONAPIECES, 45 x BONAPIECES, 45 x 81 x BONAPIECES."""
        if (piece.shape[0] != BONAPIECES or kp.shape[0] != HALF_SQUARES * BONAPIECES
                or kkp.shape[0] != HALF_SQUARES * KKP_SHARE):
            raise ValueError("weights of pieces have the wrong size")
        memcpy(self.terms.piece, &piece[0], sizeof(self.terms.piece))
        self.terms.piece[0] = 0
        with nogil:
            unfold_kkp(self.kkp, &kp[0], &kkp[0], kkp_step)

    def unfold_king(self, int king, const int16_t[::1] pp, const int16_t[::1] kpp, int step):
        """PP and KPP of one king square on files 1 to 5, and of its mirror image; PAIRS weights each."""
        cdef int16_t *out
        cdef size_t square = BONAPIECES * BONAPIECES
        if not 0 <= king < HALF_SQUARES or pp.shape[0] != PAIRS or kpp.shape[0] != PAIRS:
            raise ValueError("weights of pairs have the wrong size")
        with nogil:
            out = self.kpp + king * square
            unfold_lower(out, &pp[0], &kpp[0], step, king)
            unfold_upper(out)
            if not in_the_middle(king):
                unfold_mirror(self.kpp + mirror_square(king) * square, out)

    def unfold_turn(self, const int16_t[::1] kp, const int16_t[::1] pp, int pp_step):
        """KP of the turn, and PP in its steps; sizes 45 x BONAPIECES and PAIRS."""
        if pp_step != TURN_STEP:
            raise ValueError(f"pairs of the turn in steps of {pp_step}, where play has {TURN_STEP}")
        if kp.shape[0] != HALF_SQUARES * BONAPIECES or pp.shape[0] != PAIRS:
            raise ValueError("weights of the turn have the wrong size")
        with nogil:
            unfold_kp_turn(self.kp_turn, &kp[0])
            unfold_pp_turn(self.pp_turn, &pp[0])

    def memory(self):
        """The unfolded arrays, writable, as bytes: pieces, KKP, KPP, turn. Valid as long as this object lives."""
        cdef size_t kkp_bytes = <size_t>SQUARES * KKP_SHARE * sizeof(int16_t)
        cdef size_t kpp_bytes = <size_t>SQUARES * BONAPIECES * BONAPIECES * sizeof(int16_t)
        if self.kpp == NULL:
            raise ValueError("no weights were allocated")
        return [
            PyMemoryView_FromMemory(<char *>self.terms.piece, sizeof(self.terms.piece), PyBUF_WRITE),
            PyMemoryView_FromMemory(<char *>self.kkp, kkp_bytes, PyBUF_WRITE),
            PyMemoryView_FromMemory(<char *>self.kpp, kpp_bytes, PyBUF_WRITE),
            PyMemoryView_FromMemory(<char *>self.kp_turn, TURN_BYTES, PyBUF_WRITE),
        ]

    def use(self, int tempo):
        """Everything is unfolded: play with it."""
        self.terms.tempo = tempo
        self.terms.kkp = self.kkp
        self.terms.kpp = self.kpp
        self.terms.kp_turn = self.kp_turn
        self.terms.pp_turn = self.pp_turn
