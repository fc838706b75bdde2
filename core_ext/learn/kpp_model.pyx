"""Feature extraction, values and updates of the KPP model; contracts and formula in kpp_model.pxd."""

from libc.math cimport expf
from libc.string cimport memset

from core_ext.eval.bonapiece cimport BONAPIECES, PAIRS
from core_ext.eval.symmetry cimport KKP_PER_KING, kkp_index, kp_index, on_middle_file
from core_ext.learn.factorized cimport is_black, king_zone, kinds, offset_index, row_slot
from core_ext.learn.training_position cimport UNFINISHED, UNSCORED
from core_ext.learn.shards cimport SHARDS, PairIndices, PairList, Perspective, Shard, set_perspective, set_shard
from core_ext.shogi.types cimport BLACK, COLORS, WHITE

# The features of a position, of one shard or of both.
cdef struct Example:
    Perspective perspective[COLORS]
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
    cdef float result = 0.5 * (position.result + 1)
    if position.score == UNSCORED:
        return result
    if position.result == UNFINISHED:
        return win_probability(position.score / target.scale)
    return ((1 - target.result_share) * win_probability(position.score / target.scale)
            + target.result_share * result)


cdef void extract_features(const TrainingPosition *position, const ThreadShards *shards, const Target *target,
                           Example *example) noexcept nogil:
    cdef int shard
    set_perspective(position, BLACK, &example.perspective[BLACK])
    set_perspective(position, WHITE, &example.perspective[WHITE])
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


cdef inline int kp_place(const Perspective *perspective, int i) noexcept nogil:
    """Return the index, in the whole term, of the king and piece `i`."""
    return perspective.king * BONAPIECES + kp_index(perspective.king, perspective.numbers[i])


cdef inline int kkp_place(const Perspective *perspective, int i) noexcept nogil:
    return perspective.king * KKP_PER_KING + kkp_index(perspective.king, perspective.other, perspective.numbers[i])


# ---- value ----

cdef float sum_kp(const KppModel *model, const Perspective *perspective) noexcept nogil:
    """Sum KP and relative KP."""
    cdef float sum = 0
    cdef int i, index
    for i in range(perspective.count):
        if model.kp != NULL:
            sum += model.kp[kp_place(perspective, i)].weight
        if model.relative != NULL:
            index = offset_index(perspective.king, perspective.numbers[i])
            if index >= 0:
                sum += model.relative[index].weight
    return sum


cdef float sum_kkp(const KppModel *model, const Perspective *perspective) noexcept nogil:
    cdef float sum = 0
    cdef int i
    if model.kkp != NULL:
        for i in range(perspective.count):
            sum += model.kkp[kkp_place(perspective, i)].weight
    return sum


cdef float sum_kp_tempo(const KppModel *model, const Perspective *perspective) noexcept nogil:
    """Sum KP tempo, for the side to move."""
    cdef float sum = 0
    cdef int i
    if model.kp_tempo != NULL:
        for i in range(perspective.count):
            sum += model.kp_tempo[kp_place(perspective, i)].weight
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
    cdef const Perspective *black = &example.perspective[BLACK]
    cdef const Perspective *white = &example.perspective[WHITE]
    return (sum_kkp(model, black) - sum_kkp(model, white)
            + example.side_sign * (sum_kp_tempo(model, black) + sum_kp_tempo(model, white)))


cdef float sum_second_shard(const KppModel *model, const Example *example) noexcept nogil:
    """Sum the terms without pairs: P, KP, relative KP and the tempo."""
    cdef float tempo = model.tempo[example.source].weight if model.tempo != NULL else 0
    return (sum_pieces(model, &example.perspective[BLACK]) + sum_kp(model, &example.perspective[BLACK])
            - sum_kp(model, &example.perspective[WHITE]) + example.side_sign * tempo)


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


cdef void update_kp_term(Parameter *term, const Perspective *perspective, float gradient, float rate) noexcept nogil:
    """Update KP or KP tempo."""
    cdef int i
    if term != NULL:
        for i in range(perspective.count):
            update_parameter(term + kp_place(perspective, i), gradient, rate)


cdef void update_relative(KppModel *model, const Perspective *perspective, float gradient, float rate) noexcept nogil:
    """Update relative KP."""
    cdef int i, index
    if model.relative != NULL:
        for i in range(perspective.count):
            index = offset_index(perspective.king, perspective.numbers[i])
            if index >= 0:
                update_parameter(model.relative + index, gradient, rate)


cdef void update_kkp(KppModel *model, const Perspective *perspective, float gradient,
                     const LearningRates *rates) noexcept nogil:
    cdef int i
    if model.kkp != NULL:
        for i in range(perspective.count):
            update_parameter(model.kkp + kkp_place(perspective, i), gradient, rates.kkp)


cdef void update_pieces(KppModel *model, const Perspective *black, float gradient,
                        const LearningRates *rates) noexcept nogil:
    cdef int i
    for i in range(black.count):
        update_parameter(model.piece + kinds.kind[black.numbers[i]],
                         gradient if is_black(black.numbers[i]) else -gradient, rates.piece)


cdef void update_first_shard(KppModel *model, const Example *example, float error,
                             const LearningRates *rates) noexcept nogil:
    """Update the terms of sum_first_shard."""
    update_kkp(model, &example.perspective[BLACK], error, rates)
    update_kkp(model, &example.perspective[WHITE], -error, rates)
    update_kp_term(model.kp_tempo, &example.perspective[BLACK], example.side_sign * error, rates.kp)
    update_kp_term(model.kp_tempo, &example.perspective[WHITE], example.side_sign * error, rates.kp)


cdef void update_second_shard(KppModel *model, const Example *example, float error,
                              const LearningRates *rates) noexcept nogil:
    update_pieces(model, &example.perspective[BLACK], error, rates)
    update_kp_term(model.kp, &example.perspective[BLACK], error, rates.kp)
    update_kp_term(model.kp, &example.perspective[WHITE], -error, rates.kp)
    update_relative(model, &example.perspective[BLACK], error, rates.kp)
    update_relative(model, &example.perspective[WHITE], -error, rates.kp)
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
