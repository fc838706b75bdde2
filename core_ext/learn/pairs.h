/* PP terms: each pair of pieces has two parameters, its value for Black and its tempo value for the side to move. */
#ifndef KOMADORI_PAIRS_H
#define KOMADORI_PAIRS_H
#include "learn/adagrad.h"

typedef struct {
    Parameter value;
    Parameter tempo;
} PairParameters;

#if defined(KOMADORI_ADAGRAD_AVX2)
static inline __m256 load_two(const PairParameters *first, const PairParameters *second)
{
    return _mm256_set_m128(_mm_loadu_ps(&second->value.weight), _mm_loadu_ps(&first->value.weight));
}

static inline void store_two(PairParameters *first, PairParameters *second, __m256 parameters)
{
    _mm_storeu_ps(&first->value.weight, _mm256_castps256_ps128(parameters));
    _mm_storeu_ps(&second->value.weight, _mm256_extractf128_ps(parameters, 1));
}

/* Factors of the weights of four pairs in update_eight's order: value and tempo of pairs 1, 3, 2, 4. */
static inline __m256 factors_of_four(const float *signs, __m128 side)
{
    __m128 four = _mm_loadu_ps(signs);
    __m128 low = _mm_unpacklo_ps(four, side), high = _mm_unpackhi_ps(four, side);
    return _mm256_set_m128(_mm_movehl_ps(high, low), _mm_movelh_ps(low, high));
}

static inline int all_differ(const int32_t *indices)
{
    __m128i four = _mm_loadu_si128((const __m128i *)(const void *)indices);
    __m128i next = _mm_cmpeq_epi32(four, _mm_shuffle_epi32(four, 0x39));
    __m128i opposite = _mm_cmpeq_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_movemask_epi8(_mm_or_si128(next, opposite)) == 0;
}
#endif

/* signs: factor of each pair's value, 1, -1 or 0; side: factor of all tempo values. */
static inline float sum_pairs(const PairParameters *pairs, const int32_t *indices, const float *signs, int count,
                              float side)
{
    float sum = 0;
    int i = 0;
#if defined(KOMADORI_ADAGRAD_AVX2)
    __m256 sums = _mm256_setzero_ps();
    for (; i + 4 <= count; i += 4) {
        __m256 low = load_two(pairs + indices[i], pairs + indices[i + 1]);
        __m256 high = load_two(pairs + indices[i + 2], pairs + indices[i + 3]);
        __m256 factors = factors_of_four(signs + i, _mm_set1_ps(side));
        sums = _mm256_add_ps(sums, _mm256_mul_ps(_mm256_shuffle_ps(low, high, 0x88), factors));
    }
    sum = sum_lanes(sums);
#endif
    for (; i < count; i++)
        sum += signs[i] * pairs[indices[i]].value.weight + side * pairs[indices[i]].tempo.weight;
    return sum;
}

static inline void update_pair(PairParameters *pair, float gradient, float tempo_gradient, float rate, float tempo_rate)
{
    update_parameter(&pair->value, gradient, rate);
    update_parameter(&pair->tempo, tempo_gradient, tempo_rate);
}

/* Update each pair once for each time it is listed. */
static inline void update_pairs(PairParameters *pairs, const int32_t *indices, const float *signs, int count,
                                float gradient, float side, float rate, float tempo_rate)
{
    int i = 0, j;
#if defined(KOMADORI_ADAGRAD_AVX2)
    const __m256 rates = _mm256_setr_ps(rate, tempo_rate, rate, tempo_rate, rate, tempo_rate, rate, tempo_rate);
    for (; i + 4 <= count; i += 4) {
        PairParameters *a = pairs + indices[i], *b = pairs + indices[i + 1];
        PairParameters *c = pairs + indices[i + 2], *d = pairs + indices[i + 3];
        if (all_differ(indices + i)) {
            __m256 low = load_two(a, b), high = load_two(c, d);
            __m256 factors = factors_of_four(signs + i, _mm_set1_ps(side));
            __m256 gradients = _mm256_mul_ps(factors, _mm256_set1_ps(gradient));
            update_eight(&low, &high, _mm256_mul_ps(gradients, gradients), _mm256_mul_ps(gradients, rates));
            store_two(a, b, low);
            store_two(c, d, high);
            continue;
        }
        for (j = i; j < i + 4; j++)
            update_pair(pairs + indices[j], signs[j] * gradient, side * gradient, rate, tempo_rate);
    }
#endif
    for (j = i; j < count; j++)
        update_pair(pairs + indices[j], signs[j] * gradient, side * gradient, rate, tempo_rate);
}
#endif
