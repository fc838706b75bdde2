"""The float KPP model in training: its value of a position, and stochastic gradient descent by Adagrad.

It has the terms of play and the factorized ones (factorized.pxd). A pair's weight for its king's zone lies in one cache
line with those for the kings of that zone: training spends most of its time fetching these lines. A value is the sum
of two shards that share no weight. A position has two perspectives, one for each king; White's terms
are subtracted.

    value for Black = sum P + sum (PP + relative PP)
                    + for each perspective, + or -, sum (KP + relative KP + KKP) + sum (PP by king zone + KPP)
                    + or - (tempo + for each perspective sum KP tempo + sum (PP tempo + relative PP tempo))

The second sign is that of the side to move. The unit is LOGIT centipawns: Black's win probability is
1 / (1 + exp(-value)). Positions without a game have a tempo weight of their own: values of an opening book, from deep
searches, are about a hundred centipawns lower for the side to move than scores in games.
"""

from core_ext.learn.training_position cimport TrainingPosition
from core_ext.shogi.types cimport int32_t, uint32_t

cdef extern from "learn/adagrad.h" nogil:
    ctypedef struct Parameter:
        float weight
        float accumulator
    enum:
        ROW_SIZE
    ctypedef struct Prefetch:
        const Parameter *rows
        const int32_t *indices
    float sum_rows(const Parameter *rows, int own, const int32_t *indices, int count, const Prefetch *next) noexcept
    void update_parameter(Parameter *parameter, float gradient, float rate) noexcept
    void prefetch_row(const Prefetch *next, int i) noexcept
    void update_row(Parameter *row, int own, float gradient, float shared_rate, float own_rate) noexcept
    void update_rows(Parameter *rows, int own, const int32_t *indices, int count, float gradient, float shared_rate,
                     float own_rate, const Prefetch *next) noexcept
    ctypedef struct PairParameters:
        Parameter value
        Parameter tempo
    float sum_pairs(const PairParameters *pairs, const int32_t *indices, const float *signs, int count,
                    float side) noexcept
    void update_pairs(PairParameters *pairs, const int32_t *indices, const float *signs, int count, float gradient,
                      float side, float rate, float tempo_rate) noexcept

cdef extern from "learn/rendezvous.h" nogil:
    # Two threads at the same position exchange the sums of their shards.
    ctypedef struct Rendezvous:
        pass
    float exchange(Rendezvous *rendezvous, int thread, uint32_t number, float sum) noexcept

# A pointer is NULL if the model does not have the term.
cdef struct KppModel:
    Parameter *tempo            # of games, and of positions without a game
    Parameter *piece
    Parameter *kp
    Parameter *relative         # relative KP
    Parameter *kkp
    Parameter *kpp              # [ZONES][PAIRS][ROW_SIZE]
    Parameter *kp_tempo
    PairParameters *pp
    PairParameters *relative_pp
    bint tempo_pairs            # whether the tempo parameters of the pairs are used

# Indices of the learning rates.
cdef enum:
    PIECE_RATE                  # tempo too
    KP_RATE                     # KP, relative KP and KP tempo
    KKP_RATE
    PP_RATE
    ZONE_RATE                   # PP by king zone
    KPP_RATE
    PP_TEMPO_RATE
    RELATIVE_PP_RATE
    RELATIVE_PP_TEMPO_RATE
    RATES

# How the target of a position, a win probability, is computed from its score and its result.
cdef struct Target:
    float scale                 # centipawns of the logistic that scores are on
    float result_share          # 0 to 1, of the game's result

# The shards that a thread works on.
cdef struct ThreadShards:
    int first
    int last
    Rendezvous *rendezvous      # with the thread of the other shard; NULL if this one has both

cdef ThreadShards all_shards() noexcept nogil
# Train on the positions in their order; returns the sum of squared errors of the win probability, each before its
# update. If the thread has one shard, another thread must do the same with the other.
cdef double train(KppModel *model, const TrainingPosition *positions, uint32_t count, const ThreadShards *shards,
                  const float *rates, const Target *target) noexcept nogil
# Compute values for Black, in LOGIT centipawns.
cdef void predict(const KppModel *model, const TrainingPosition *positions, float *values,
                  long long count) noexcept nogil
