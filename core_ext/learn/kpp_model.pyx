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

# Indices of a perspective's pieces in the terms with a king; -1: none.
cdef struct Places:
    int32_t kp[LISTED]
    int32_t relative[LISTED]
    int32_t kkp[LISTED]

# The features of a position, of one shard or of both.
cdef struct Example:
    Perspective perspective[COLORS]
    Places places[COLORS]
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


cdef void set_places(const Perspective *perspective, Places *places) noexcept nogil:
    cdef int king = perspective.king, number, i
    for i in range(perspective.count):
        number = perspective.numbers[i]
        places.kp[i] = king * BONAPIECES + kp_index(king, number)
        places.relative[i] = offset_index(king, number)
        places.kkp[i] = king * KKP_PER_KING + kkp_index(king, perspective.other, number)


cdef void extract_features(const TrainingPosition *position, const ThreadShards *shards, const Target *target,
                           Example *example) noexcept nogil:
    cdef int color, shard
    for color in range(COLORS):
        set_perspective(position, color, &example.perspective[color])
        set_places(&example.perspective[color], &example.places[color])
    for shard in range(shards.first, shards.last + 1):
        set_shard(example.perspective, shard, &example.shard[shard])
    example.side_sign = 1 if position.side == BLACK else -1
    example.source = position.result == UNFINISHED
    example.target = target_of(position, target)


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

cdef float sum_term(const Parameter *term, const int32_t *places, const Perspective *perspective) noexcept nogil:
    """Sum the weights of a term with a king over the pieces."""
    cdef float sum = 0
    cdef int i
    if term != NULL:
        for i in range(perspective.count):
            if places[i] >= 0:
                sum += term[places[i]].weight
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


cdef float sum_pieces(const KppModel *model, const Perspective *black) noexcept nogil:
    cdef float sum = 0
    cdef int i
    for i in range(black.count):
        sum += model.piece[kinds.kind[black.numbers[i]]].weight * (1 if is_black(black.numbers[i]) else -1)
    return sum


cdef float sum_first_shard(const KppModel *model, const Example *example) noexcept nogil:
    """Sum the terms without pairs: KKP and KP tempo."""
    cdef float sum = 0
    cdef int color
    for color in range(COLORS):
        sum += SIGN[color] * sum_term(model.kkp, example.places[color].kkp, &example.perspective[color])
        sum += example.side_sign * sum_term(model.kp_tempo, example.places[color].kp, &example.perspective[color])
    return sum


cdef float sum_second_shard(const KppModel *model, const Example *example) noexcept nogil:
    """Sum the terms without pairs: P, KP, relative KP and the tempo."""
    cdef float sum = sum_pieces(model, &example.perspective[BLACK])
    cdef int color
    for color in range(COLORS):
        sum += SIGN[color] * sum_term(model.kp, example.places[color].kp, &example.perspective[color])
        sum += SIGN[color] * sum_term(model.relative, example.places[color].relative, &example.perspective[color])
    return sum + example.side_sign * model.tempo[example.source].weight if model.tempo != NULL else sum


cdef float shard_value(const KppModel *model, const Example *example, int shard, const Example *next) noexcept nogil:
    cdef const PairList *pairs = &example.shard[shard].pp
    cdef const PairParameters *parameters = model.relative_pp if shard else model.pp
    cdef float value = sum_kpp(model, example, shard, BLACK, next) - sum_kpp(model, example, shard, WHITE, next)
    if parameters != NULL:
        value += sum_pairs(parameters, pairs.indices, pairs.signs, pairs.count,
                           example.side_sign if model.tempo_pairs else 0)
    return value + (sum_second_shard(model, example) if shard else sum_first_shard(model, example))


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
                     const LearningRates *rates, const Example *next) noexcept nogil:
    cdef const Perspective *perspective = &example.perspective[color]
    cdef const PairIndices *pairs = &example.shard[shard].kpp[color]
    cdef Parameter *rows = kpp_rows(model, perspective)
    cdef int i, own = row_slot(perspective.king)
    cdef Prefetch half = half_to_prefetch(model, next, shard, color, 1)
    if not on_middle_file(perspective.king):
        update_rows(rows, own, pairs.indices, pairs.count, gradient, rates.zone, rates.kpp, &half)
        return
    for i in range(pairs.count):
        prefetch_row(&half, i // 2)
        update_row(rows + ROW_SIZE * pairs.indices[i], own, gradient, rates.zone, rates.kpp)


cdef void update_term(Parameter *term, const int32_t *places, const Perspective *perspective, float gradient,
                      float rate) noexcept nogil:
    cdef int i
    if term != NULL:
        for i in range(perspective.count):
            if places[i] >= 0:
                update_parameter(term + places[i], gradient, rate)


cdef void update_pieces(KppModel *model, const Perspective *black, float gradient,
                        const LearningRates *rates) noexcept nogil:
    cdef int i
    for i in range(black.count):
        update_parameter(model.piece + kinds.kind[black.numbers[i]],
                         gradient if is_black(black.numbers[i]) else -gradient, rates.piece)


cdef void update_first_shard(KppModel *model, const Example *example, float error,
                             const LearningRates *rates) noexcept nogil:
    """Update the terms of sum_first_shard."""
    cdef const Perspective *seen
    cdef int color
    for color in range(COLORS):
        seen = &example.perspective[color]
        update_term(model.kkp, example.places[color].kkp, seen, SIGN[color] * error, rates.kkp)
        update_term(model.kp_tempo, example.places[color].kp, seen, example.side_sign * error, rates.kp)


cdef void update_second_shard(KppModel *model, const Example *example, float error,
                              const LearningRates *rates) noexcept nogil:
    cdef const Perspective *seen
    cdef int color
    update_pieces(model, &example.perspective[BLACK], error, rates)
    for color in range(COLORS):
        seen = &example.perspective[color]
        update_term(model.kp, example.places[color].kp, seen, SIGN[color] * error, rates.kp)
        update_term(model.relative, example.places[color].relative, seen, SIGN[color] * error, rates.kp)
    if model.tempo != NULL:
        update_parameter(model.tempo + example.source, example.side_sign * error, rates.piece)


cdef void update_pp(KppModel *model, const Example *example, int shard, float error,
                    const LearningRates *rates) noexcept nogil:
    """Update PP in the first shard, relative PP in the second."""
    cdef const PairList *pairs = &example.shard[shard].pp
    cdef PairParameters *parameters = model.relative_pp if shard else model.pp
    if parameters != NULL:
        update_pairs(parameters, pairs.indices, pairs.signs, pairs.count, error,
                     example.side_sign if model.tempo_pairs else 0,
                     rates.relative_pp if shard else rates.pp,
                     rates.relative_pp_tempo if shard else rates.pp_tempo)


cdef void update_shard(KppModel *model, const Example *example, int shard, float error, const LearningRates *rates,
                       const Example *next) noexcept nogil:
    if model.kpp != NULL:
        update_kpp(model, example, shard, BLACK, error, rates, next)
        update_kpp(model, example, shard, WHITE, -error, rates, next)
    update_pp(model, example, shard, error, rates)
    if shard == 0:
        update_first_shard(model, example, error, rates)
    else:
        update_second_shard(model, example, error, rates)


cdef void update_model(KppModel *model, const Example *example, const ThreadShards *shards, float error,
                       const LearningRates *rates, const Example *next) noexcept nogil:
    """Do one step of gradient descent on the logistic loss; its derivative by the value is the probability's error."""
    cdef int shard
    if error == 0:
        return
    for shard in range(shards.first, shards.last + 1):
        update_shard(model, example, shard, error, rates, next)


cdef double train(KppModel *model, const TrainingPosition *positions, uint32_t count, const ThreadShards *shards,
                  const LearningRates *rates, const Target *target) noexcept nogil:
    # The KPP rows of the next position are prefetched a few at a time: if all were prefetched at once, they would fill
    # the processor's miss buffers, and it would stall.
    cdef Example examples[2]
    cdef Example *now
    cdef Example *next
    cdef double loss = 0
    cdef uint32_t i
    cdef float p
    memset(examples, 0, sizeof(examples))
    extract_features(positions, shards, target, &examples[0])
    for i in range(count):
        now = &examples[i % 2]
        next = &examples[(i + 1) % 2]
        if i + 1 < count:
            extract_features(positions + i + 1, shards, target, next)
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
        extract_features(positions + i, &shards, &target, &example)
        values[i] = value_of(model, &example, &shards, 0, &example)
