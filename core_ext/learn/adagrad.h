/* Adagrad (Duchi, Hazan and Singer, 2011): sums and updates of rows of parameters by a list of distinct indices. */
#ifndef KOMADORI_ADAGRAD_H
#define KOMADORI_ADAGRAD_H
#include <math.h>
#include <stdint.h>
#include "base/simd.h"

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#define KOMADORI_ADAGRAD_AVX2 1
#endif

/* A weight and its accumulator, the sum of its squared gradients: one cache line serves both. */
typedef struct {
    float weight;
    float accumulator;
} Parameter;

/* A row fills a cache line: a parameter shared by the kings of a zone, then one for each of these kings. */
enum { ROW_SIZE = 8 };

/* Divisor if the accumulator is 0; below any gradient that matters. */
#define EPSILON 1e-12f

/* Effective learning rate: rate / sqrt(accumulator). A zero gradient changes nothing. */
static inline void update_parameter(Parameter *parameter, float gradient, float rate)
{
    float root;
    parameter->accumulator += gradient * gradient;
    root = sqrtf(parameter->accumulator);
    parameter->weight -= rate * gradient / (root > EPSILON ? root : EPSILON);
}

#if defined(KOMADORI_ADAGRAD_AVX2)
/* Four parameters in one register. */
static inline __m256 load_parameters(const Parameter *parameters, const int32_t *indices, int stride)
{
    return _mm256_castpd_ps(_mm256_set_pd(
        *(const double *)(const void *)(parameters + stride * indices[3]),
        *(const double *)(const void *)(parameters + stride * indices[2]),
        *(const double *)(const void *)(parameters + stride * indices[1]),
        *(const double *)(const void *)(parameters + stride * indices[0])));
}

static inline void store_parameters(Parameter *parameters, const int32_t *indices, int stride, __m256 values)
{
    __m128 low = _mm256_castps256_ps128(values), high = _mm256_extractf128_ps(values, 1);
    _mm_storel_pi((__m64 *)(void *)(parameters + stride * indices[0]), low);
    _mm_storeh_pi((__m64 *)(void *)(parameters + stride * indices[1]), low);
    _mm_storel_pi((__m64 *)(void *)(parameters + stride * indices[2]), high);
    _mm_storeh_pi((__m64 *)(void *)(parameters + stride * indices[3]), high);
}

/* Update the four parameters in `low` and the four in `high`. square: of their gradients; scaled: gradients times
   rates; both in the order two of `low`, two of `high`, two of `low`, two of `high`. */
static inline void update_eight(__m256 *low, __m256 *high, __m256 square, __m256 scaled)
{
    __m256 weights = _mm256_shuffle_ps(*low, *high, 0x88);
    __m256 accumulator = _mm256_add_ps(_mm256_shuffle_ps(*low, *high, 0xDD), square);
    __m256 roots = _mm256_max_ps(_mm256_sqrt_ps(accumulator), _mm256_set1_ps(EPSILON));
    weights = _mm256_sub_ps(weights, _mm256_div_ps(scaled, roots));
    *low = _mm256_unpacklo_ps(weights, accumulator);
    *high = _mm256_unpackhi_ps(weights, accumulator);
}

static inline float sum_lanes(__m256 lanes)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
#endif

/* Rows of the next position, prefetched one by one while this position is computed. */
typedef struct {
    const Parameter *rows;
    const int32_t *indices;
} Prefetch;

static inline void prefetch_row(const Prefetch *next, int i)
{
    prefetch(next->rows + ROW_SIZE * next->indices[i]);
}

/* Sum the shared parameter and the one at `own` of each row; prefetch half as many rows of `next`. */
static inline float sum_rows(const Parameter *rows, int own, const int32_t *indices, int count, const Prefetch *next)
{
    float sum = 0;
    int i = 0;
#if defined(KOMADORI_ADAGRAD_AVX2)
    __m256 sums = _mm256_setzero_ps();
    for (; i + 4 <= count; i += 4) {
        const Parameter *a = rows + ROW_SIZE * indices[i], *b = rows + ROW_SIZE * indices[i + 1];
        const Parameter *c = rows + ROW_SIZE * indices[i + 2], *d = rows + ROW_SIZE * indices[i + 3];
        prefetch_row(next, i / 2);
        prefetch_row(next, i / 2 + 1);
        sums = _mm256_add_ps(sums, _mm256_set_ps(
            d[own].weight, d->weight, c[own].weight, c->weight, b[own].weight, b->weight, a[own].weight, a->weight));
    }
    sum = sum_lanes(sums);
#endif
    for (; i < count; i++) {
        prefetch_row(next, i / 2);
        sum += rows[ROW_SIZE * indices[i]].weight + rows[ROW_SIZE * indices[i] + own].weight;
    }
    return sum;
}

static inline void update_row(Parameter *row, int own, float gradient, float shared_rate, float own_rate)
{
    update_parameter(row, gradient, shared_rate);
    update_parameter(row + own, gradient, own_rate);
}

/* Update the shared parameter and the one at `own` of each row; prefetch half as many rows of `next`. */
static inline void update_rows(Parameter *rows, int own, const int32_t *indices, int count, float gradient,
                               float shared_rate, float own_rate, const Prefetch *next)
{
    int i = 0;
#if defined(KOMADORI_ADAGRAD_AVX2)
    const float a = gradient * shared_rate, b = gradient * own_rate;
    const __m256 square = _mm256_set1_ps(gradient * gradient), scaled = _mm256_setr_ps(a, a, b, b, a, a, b, b);
    for (; i + 4 <= count; i += 4) {
        __m256 shared = load_parameters(rows, indices + i, ROW_SIZE);
        __m256 owned = load_parameters(rows + own, indices + i, ROW_SIZE);
        prefetch_row(next, i / 2);
        prefetch_row(next, i / 2 + 1);
        update_eight(&shared, &owned, square, scaled);
        store_parameters(rows, indices + i, ROW_SIZE, shared);
        store_parameters(rows + own, indices + i, ROW_SIZE, owned);
    }
#endif
    for (; i < count; i++) {
        prefetch_row(next, i / 2);
        update_row(rows + ROW_SIZE * indices[i], own, gradient, shared_rate, own_rate);
    }
}
/* PP terms: each pair of pieces has two parameters, its value for Black and its tempo value for the side to move */

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
