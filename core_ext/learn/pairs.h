/* Pairs that learn two weights side by side: what the pair is worth, and what it is worth to the side to move. */
#ifndef KOMADORI_PAIRS_H
#define KOMADORI_PAIRS_H
#include "learn/adagrad.h"

typedef struct {
    Cell worth;
    Cell turn;
} PairCells;

#if defined(KOMADORI_ADAGRAD_AVX2)
static inline __m256 load_two(const PairCells *first, const PairCells *second)
{
    return _mm256_set_m128(_mm_loadu_ps(&second->worth.weight), _mm_loadu_ps(&first->worth.weight));
}

static inline void store_two(PairCells *first, PairCells *second, __m256 cells)
{
    _mm_storeu_ps(&first->worth.weight, _mm256_castps256_ps128(cells));
    _mm_storeu_ps(&second->worth.weight, _mm256_extractf128_ps(cells, 1));
}

/* What the weights of four pairs count, in improve_eight's order: worth and turn of the first, third, second, fourth. */
static inline __m256 factors_of_four(const float *signs, __m128 side)
{
    __m128 four = _mm_loadu_ps(signs);
    __m128 low = _mm_unpacklo_ps(four, side), high = _mm_unpackhi_ps(four, side);
    return _mm256_set_m128(_mm_movehl_ps(high, low), _mm_movelh_ps(low, high));
}

static inline int all_differ(const int32_t *places)
{
    __m128i four = _mm_loadu_si128((const __m128i *)(const void *)places);
    __m128i next = _mm_cmpeq_epi32(four, _mm_shuffle_epi32(four, 0x39));
    __m128i opposite = _mm_cmpeq_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_movemask_epi8(_mm_or_si128(next, opposite)) == 0;
}
#endif

/* Signs: 1, -1 or 0, of each pair's worth; side: the same of the turn's worth. */
static inline float sum_pairs(const PairCells *pairs, const int32_t *places, const float *signs, int count, float side)
{
    float sum = 0;
    int i = 0;
#if defined(KOMADORI_ADAGRAD_AVX2)
    __m256 sums = _mm256_setzero_ps();
    for (; i + 4 <= count; i += 4) {
        __m256 low = load_two(pairs + places[i], pairs + places[i + 1]);
        __m256 high = load_two(pairs + places[i + 2], pairs + places[i + 3]);
        __m256 factors = factors_of_four(signs + i, _mm_set1_ps(side));
        sums = _mm256_add_ps(sums, _mm256_mul_ps(_mm256_shuffle_ps(low, high, 0x88), factors));
    }
    sum = sum_lanes(sums);
#endif
    for (; i < count; i++)
        sum += signs[i] * pairs[places[i]].worth.weight + side * pairs[places[i]].turn.weight;
    return sum;
}

static inline void improve_pair(PairCells *pair, float gradient, float turn_gradient, float step, float turn_step)
{
    improve_cell(&pair->worth, gradient, step);
    improve_cell(&pair->turn, turn_gradient, turn_step);
}

/* One step of each pair for each time it is listed. */
static inline void improve_pairs(PairCells *pairs, const int32_t *places, const float *signs, int count, float gradient,
                                 float side, float step, float turn_step)
{
    int i = 0, j;
#if defined(KOMADORI_ADAGRAD_AVX2)
    const __m256 steps = _mm256_setr_ps(step, turn_step, step, turn_step, step, turn_step, step, turn_step);
    for (; i + 4 <= count; i += 4) {
        PairCells *a = pairs + places[i], *b = pairs + places[i + 1];
        PairCells *c = pairs + places[i + 2], *d = pairs + places[i + 3];
        if (all_differ(places + i)) {
            __m256 low = load_two(a, b), high = load_two(c, d);
            __m256 factors = factors_of_four(signs + i, _mm_set1_ps(side));
            __m256 gradients = _mm256_mul_ps(factors, _mm256_set1_ps(gradient));
            improve_eight(&low, &high, _mm256_mul_ps(gradients, gradients), _mm256_mul_ps(gradients, steps));
            store_two(a, b, low);
            store_two(c, d, high);
            continue;
        }
        for (j = i; j < i + 4; j++)
            improve_pair(pairs + places[j], signs[j] * gradient, side * gradient, step, turn_step);
    }
#endif
    for (j = i; j < count; j++)
        improve_pair(pairs + places[j], signs[j] * gradient, side * gradient, step, turn_step);
}
#endif
