"""Feature extraction, values and updates of the KPP model; contracts and formula in kpp_model.pxd."""

from libc.math cimport expf
from libc.string cimport memset

from core_ext.eval.bonapiece cimport BONAPIECES, LISTED, PAIRS, features, inverse_square, mirror_square, pair_index
from core_ext.eval.symmetry cimport (
    KKP_PER_KING, PADDED_PAIRS, PADDED_PIECES, kkp_index, kp_index, larger, list_canonical_pairs, mirrored,
    on_middle_file, round_up, smaller,
)
from core_ext.learn.factorized cimport is_black, king_zone, kinds, list_relative_pairs, offset_index, row_slot
from core_ext.learn.training_position cimport RESULT_UNIT, UNFINISHED, UNSCORED
from core_ext.shogi.types cimport BLACK, COLORS, WHITE

# ---- extraction of features ----

# They are split into two shards for two threads; no weight belongs to both. A KPP feature belongs to shard 0 if the sum
# of its two Bonapiece numbers is even, to shard 1 if it is odd (its mirror image has the same parity). The rest is
# split to balance the work: PP, KKP and the KP tempo terms to shard 0; relative PP and all other terms to shard 1.
cdef enum:
    SHARDS = 2

cdef float[COLORS] SIGN = [1, -1]   # of the terms of each colour's perspective in the value for Black

# A position from one colour's perspective, mirrored if its king is on files 6 to 9.
cdef struct Perspective:
    int king
    int other
    int count
    int32_t numbers[PADDED_PIECES]    # ascending

# A shard's pairs from one perspective: indices of KPP rows.
cdef struct PairIndices:
    int count
    int32_t indices[PADDED_PAIRS]

# Pairs without a king; an index may occur more than once. The sign is the factor of the value for Black.
cdef struct PairList:
    int count
    int32_t indices[PADDED_PAIRS]
    float signs[PADDED_PAIRS]

# The even or the odd numbers of a perspective and their mirror images; base: pair_index(number, 0).
cdef struct Parity:
    int count
    int32_t numbers[PADDED_PIECES]
    int32_t base[PADDED_PIECES]
    int32_t mirrors[PADDED_PIECES]
    int32_t mirror_base[PADDED_PIECES]

cdef struct Shard:
    PairIndices kpp[COLORS]
    PairList pp


cdef inline void sort_numbers(Perspective *perspective) noexcept nogil:
    """Sort distinct numbers: the rank of each is how many are smaller."""
    cdef int32_t given[PADDED_PIECES]
    cdef int i, j, before
    for i in range(PADDED_PIECES):
        given[i] = perspective.numbers[i] if i < perspective.count else BONAPIECES
    for i in range(perspective.count):
        before = 0
        for j in range(PADDED_PIECES):
            before += given[j] < given[i]
        perspective.numbers[before] = given[i]


cdef inline void set_perspective(const TrainingPosition *position, int color, Perspective *perspective) noexcept nogil:
    cdef int i = 0, number
    cdef bint mirror = mirrored(position.king[color])
    perspective.king = position.king[color]
    perspective.other = inverse_square(position.king[color ^ 1])
    if mirror:
        perspective.king = mirror_square(perspective.king)
        perspective.other = mirror_square(perspective.other)
    while i < LISTED and position.pieces[i]:
        number = position.pieces[i]
        if color == WHITE:
            number = features.inverse[number]
        perspective.numbers[i] = features.mirror[number] if mirror else number
        i += 1
    perspective.count = i
    sort_numbers(perspective)


cdef inline void split_by_parity(const Perspective *perspective, Parity *even, Parity *odd) noexcept nogil:
    cdef Parity *own
    cdef int i, number, mirror
    memset(even, 0, sizeof(Parity))
    memset(odd, 0, sizeof(Parity))
    for i in range(perspective.count):
        number = perspective.numbers[i]
        mirror = features.mirror[number]
        own = odd if number & 1 else even
        own.numbers[own.count] = number
        own.base[own.count] = pair_index(number, 0)
        own.mirrors[own.count] = mirror
        own.mirror_base[own.count] = pair_index(mirror, 0)
        own.count += 1


cdef inline int list_pairs_with(const Parity *own, int i, const Parity *others, int count, bint symmetric,
                                int32_t *indices) noexcept nogil:
    """List the pairs of number `i` with the first `count` of the others; return how many.

    As in list_canonical_pairs the larger of two sums is pair_index, and whole LANES are written.
    """
    cdef int32_t number = own.numbers[i], base = own.base[i], index
    cdef int32_t mirror = own.mirrors[i], mirror_base = own.mirror_base[i]
    cdef int j
    for j in range(round_up(count)):
        indices[j] = larger(base + others.numbers[j], others.base[j] + number)
    if symmetric:
        for j in range(round_up(count)):
            index = larger(mirror_base + others.mirrors[j], others.mirror_base[j] + mirror)
            indices[j] = smaller(indices[j], index)
    return count


cdef inline void list_kpp_pairs(const Perspective *perspective, int shard, PairIndices *pairs) noexcept nogil:
    """List the pairs of two even or two odd numbers (shard 0), or of one of each (shard 1).

    If the king is on the middle file, mirror images share an index.
    """
    cdef Parity even, odd
    cdef int i, n = 0
    cdef bint symmetric = on_middle_file(perspective.king)
    split_by_parity(perspective, &even, &odd)
    if shard == 0:
        for i in range(even.count):
            n += list_pairs_with(&even, i, &even, i, symmetric, pairs.indices + n)
        for i in range(odd.count):
            n += list_pairs_with(&odd, i, &odd, i, symmetric, pairs.indices + n)
    else:
        for i in range(odd.count):
            n += list_pairs_with(&odd, i, &even, even.count, symmetric, pairs.indices + n)
    pairs.count = n


cdef inline void list_pp_pairs(const Perspective *black, int shard, PairList *pairs) noexcept nogil:
    if shard == 0:
        list_canonical_pairs(black.numbers, black.count, pairs.indices, pairs.signs)
        pairs.count = black.count * (black.count - 1) // 2
    else:
        pairs.count = list_relative_pairs(black.numbers, black.count, pairs.indices, pairs.signs)


cdef inline void set_shard(const Perspective *perspectives, int shard, Shard *out) noexcept nogil:
    cdef int color
    for color in range(COLORS):
        list_kpp_pairs(&perspectives[color], shard, &out.kpp[color])
    list_pp_pairs(&perspectives[BLACK], shard, &out.pp)


# ---- examples ----

cdef enum:
    MOST_SINGLES = 2 * COLORS * LISTED + LISTED + 1

# The parameters of a shard that belong to no pair, with the signs of their weights in the value for Black.
cdef struct Singles:
    int count
    Parameter *parameter[MOST_SINGLES]
    float sign[MOST_SINGLES]
    int rate[MOST_SINGLES]      # index of its learning rate


# The features of a position, of one shard or of both.
cdef struct Example:
    Perspective perspective[COLORS]
    Singles singles[SHARDS]
    Shard shard[SHARDS]
    int side_sign               # 1: Black is to move, -1: White
    int source                  # index of the tempo parameter: 0 of games, 1 of positions without a game
    float target                # Black's win probability


cdef ThreadShards all_shards() noexcept nogil:
    cdef ThreadShards shards
    shards.first = 0
    shards.last = SHARDS - 1
    shards.rendezvous = NULL
    return shards


# ---- features ----

cdef inline float win_probability(float value) noexcept nogil:
    return 1 / (1 + expf(-value))


cdef float target_of(const TrainingPosition *position, const Target *target) noexcept nogil:
    """Return Black's win probability: that of the score, mixed with the game's result if the position has both."""
    cdef float result = 0.5 * (position.result / <float>RESULT_UNIT + 1)
    if position.score == UNSCORED:
        return result
    if position.result == UNFINISHED:
        return win_probability(position.score / target.scale)
    return ((1 - target.result_share) * win_probability(position.score / target.scale)
            + target.result_share * result)


cdef inline void add_single(Singles *singles, Parameter *term, int index, float sign, int rate) noexcept nogil:
    """Add a parameter, unless the model lacks its term or the index is -1."""
    if term != NULL and index >= 0:
        singles.parameter[singles.count] = term + index
        singles.sign[singles.count] = sign
        singles.rate[singles.count] = rate
        singles.count += 1


cdef void add_terms_with_king(const KppModel *model, const Perspective *seen, int shard, float sign, float side_sign,
                              Singles *singles) noexcept nogil:
    """Add KKP and KP tempo in the first shard, KP and relative KP in the second."""
    cdef int king = seen.king, number, kp, i
    for i in range(seen.count):
        number = seen.numbers[i]
        kp = king * BONAPIECES + kp_index(king, number)
        if shard == 0:
            add_single(singles, model.kkp, king * KKP_PER_KING + kkp_index(king, seen.other, number), sign, KKP_RATE)
            add_single(singles, model.kp_tempo, kp, side_sign, KP_RATE)
        else:
            add_single(singles, model.kp, kp, sign, KP_RATE)
            add_single(singles, model.relative, offset_index(king, number), sign, KP_RATE)


cdef void list_singles(const KppModel *model, const Example *example, int shard, Singles *singles) noexcept nogil:
    """List the terms with a king of both perspectives; in the second shard P and the tempo too."""
    cdef const Perspective *black = &example.perspective[BLACK]
    cdef int color, i
    singles.count = 0
    for color in range(COLORS):
        add_terms_with_king(model, &example.perspective[color], shard, SIGN[color], example.side_sign, singles)
    if shard == 0:
        return
    for i in range(black.count):
        add_single(singles, model.piece, kinds.kind[black.numbers[i]], 1 if is_black(black.numbers[i]) else -1,
                   PIECE_RATE)
    add_single(singles, model.tempo, example.source, example.side_sign, PIECE_RATE)


cdef void extract_features(const KppModel *model, const TrainingPosition *position, const ThreadShards *shards,
                           const Target *target, Example *example) noexcept nogil:
    cdef int color, shard
    for color in range(COLORS):
        set_perspective(position, color, &example.perspective[color])
    example.side_sign = 1 if position.side == BLACK else -1
    example.source = position.result == UNFINISHED
    example.target = target_of(position, target)
    for shard in range(shards.first, shards.last + 1):
        set_shard(example.perspective, shard, &example.shard[shard])
        list_singles(model, example, shard, &example.singles[shard])


cdef inline Parameter *kpp_rows(const KppModel *model, const Perspective *perspective) noexcept nogil:
    return model.kpp + <size_t>king_zone(perspective.king) * PAIRS * ROW_SIZE


cdef Prefetch half_to_prefetch(const KppModel *model, const Example *example, int shard, int color,
                               int half) noexcept nogil:
    """Return the first or the second half of a shard's KPP rows."""
    cdef const PairIndices *pairs = &example.shard[shard].kpp[color]
    cdef Prefetch next
    next.rows = kpp_rows(model, &example.perspective[color])
    next.indices = pairs.indices + half * (pairs.count // 2)
    return next


# ---- value ----

cdef float sum_singles(const Singles *singles) noexcept nogil:
    cdef float sum = 0
    cdef int i
    for i in range(singles.count):
        sum += singles.sign[i] * singles.parameter[i].weight
    return sum


cdef float sum_kpp(const KppModel *model, const Example *example, int shard, int color,
                   const Example *next) noexcept nogil:
    cdef const Perspective *perspective = &example.perspective[color]
    cdef const PairIndices *pairs = &example.shard[shard].kpp[color]
    cdef Prefetch half
    if model.kpp == NULL:
        return 0
    half = half_to_prefetch(model, next, shard, color, 0)
    return sum_rows(kpp_rows(model, perspective), row_slot(perspective.king), pairs.indices, pairs.count, &half)


cdef float shard_value(const KppModel *model, const Example *example, int shard, const Example *next) noexcept nogil:
    cdef const PairList *pairs = &example.shard[shard].pp
    cdef const PairParameters *parameters = model.relative_pp if shard else model.pp
    cdef float value = sum_kpp(model, example, shard, BLACK, next) - sum_kpp(model, example, shard, WHITE, next)
    if parameters != NULL:
        value += sum_pairs(parameters, pairs.indices, pairs.signs, pairs.count,
                           example.side_sign if model.tempo_pairs else 0)
    return value + sum_singles(&example.singles[shard])


cdef float value_of(const KppModel *model, const Example *example, const ThreadShards *shards, uint32_t number,
                    const Example *next) noexcept nogil:
    """Return the value for Black, in LOGIT centipawns; prefetch half the rows of `next`, the example to come."""
    cdef float value[SHARDS]
    cdef int shard
    for shard in range(shards.first, shards.last + 1):
        value[shard] = shard_value(model, example, shard, next)
    if shards.rendezvous != NULL:
        value[shards.first ^ 1] = exchange(shards.rendezvous, shards.first, number, value[shards.first])
    return value[0] + value[1]


# ---- updates ----

# If the king is on the middle file, a pair and its mirror image share a parameter, which is updated once for each.

cdef void update_kpp(KppModel *model, const Example *example, int shard, int color, float gradient,
                     const float *rates, const Example *next) noexcept nogil:
    cdef const Perspective *perspective = &example.perspective[color]
    cdef const PairIndices *pairs = &example.shard[shard].kpp[color]
    cdef Parameter *rows = kpp_rows(model, perspective)
    cdef int i, own = row_slot(perspective.king)
    cdef Prefetch half = half_to_prefetch(model, next, shard, color, 1)
    if not on_middle_file(perspective.king):
        update_rows(rows, own, pairs.indices, pairs.count, gradient, rates[ZONE_RATE], rates[KPP_RATE], &half)
        return
    for i in range(pairs.count):
        prefetch_row(&half, i // 2)
        update_row(rows + ROW_SIZE * pairs.indices[i], own, gradient, rates[ZONE_RATE], rates[KPP_RATE])


cdef void update_singles(const Singles *singles, float error, const float *rates) noexcept nogil:
    cdef int i
    for i in range(singles.count):
        update_parameter(singles.parameter[i], singles.sign[i] * error, rates[singles.rate[i]])


cdef void update_pp(KppModel *model, const Example *example, int shard, float error, const float *rates) noexcept nogil:
    """Update PP in the first shard, relative PP in the second."""
    cdef const PairList *pairs = &example.shard[shard].pp
    cdef PairParameters *parameters = model.relative_pp if shard else model.pp
    if parameters != NULL:
        update_pairs(parameters, pairs.indices, pairs.signs, pairs.count, error,
                     example.side_sign if model.tempo_pairs else 0,
                     rates[RELATIVE_PP_RATE] if shard else rates[PP_RATE],
                     rates[RELATIVE_PP_TEMPO_RATE] if shard else rates[PP_TEMPO_RATE])


cdef void update_shard(KppModel *model, const Example *example, int shard, float error, const float *rates,
                       const Example *next) noexcept nogil:
    if model.kpp != NULL:
        update_kpp(model, example, shard, BLACK, error, rates, next)
        update_kpp(model, example, shard, WHITE, -error, rates, next)
    update_pp(model, example, shard, error, rates)
    update_singles(&example.singles[shard], error, rates)


cdef void update_model(KppModel *model, const Example *example, const ThreadShards *shards, float error,
                       const float *rates, const Example *next) noexcept nogil:
    """Do one step of gradient descent on the logistic loss; its derivative by the value is the probability's error."""
    cdef int shard
    if error == 0:
        return
    for shard in range(shards.first, shards.last + 1):
        update_shard(model, example, shard, error, rates, next)


cdef double train(KppModel *model, const TrainingPosition *positions, uint32_t count, const ThreadShards *shards,
                  const float *rates, const Target *target) noexcept nogil:
    # The KPP rows of the next position are prefetched a few at a time: if all were prefetched at once, they would fill
    # the processor's miss buffers, and it would stall.
    cdef Example examples[2]
    cdef Example *now
    cdef Example *next
    cdef double loss = 0
    cdef uint32_t i
    cdef float p
    memset(examples, 0, sizeof(examples))
    extract_features(model, positions, shards, target, &examples[0])
    for i in range(count):
        now = &examples[i % 2]
        next = &examples[(i + 1) % 2]
        if i + 1 < count:
            extract_features(model, positions + i + 1, shards, target, next)
        p = win_probability(value_of(model, now, shards, i + 1, next))
        loss += <double>((p - now.target) * (p - now.target))
        update_model(model, now, shards, p - now.target, rates, next)
    return loss


cdef void predict(const KppModel *model, const TrainingPosition *positions, float *values,
                  long long count) noexcept nogil:
    cdef Example example
    cdef ThreadShards shards = all_shards()
    cdef Target target = [600, 0]    # any: values do not depend on it
    cdef long long i
    memset(&example, 0, sizeof(example))
    for i in range(count):
        extract_features(model, positions + i, &shards, &target, &example)
        values[i] = value_of(model, &example, &shards, 0, &example)
