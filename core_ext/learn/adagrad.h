/* Weights that learn by Adagrad: sums and steps of rows of weights picked by a list of places, no place twice. */
#ifndef KOMADORI_ADAGRAD_H
#define KOMADORI_ADAGRAD_H
#include <math.h>
#include <stdint.h>
#include "base/simd.h"

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#define KOMADORI_ADAGRAD_AVX2 1
#endif

/* A weight and the sum of its squared gradients: one cache line serves both. */
typedef struct {
    float weight;
    float squares;
} Cell;

/* Cells of a row: the first is shared by the kings of a zone, then each has its own; a row fills a cache line. */
enum { ROW = 8 };

/* Below any gradient that counts. */
#define TINY 1e-12f

/* The more a weight has moved already, the smaller its step; without a gradient there is none, even of the first. */
static inline void improve_cell(Cell *cell, float gradient, float step)
{
    float root;
    cell->squares += gradient * gradient;
    root = sqrtf(cell->squares);
    cell->weight -= step * gradient / (root > TINY ? root : TINY);
}

#if defined(KOMADORI_ADAGRAD_AVX2)
/* Four cells, side by side. */
static inline __m256 load_cells(const Cell *cells, const int32_t *places, int stride)
{
    return _mm256_castpd_ps(_mm256_set_pd(
        *(const double *)(const void *)(cells + stride * places[3]),
        *(const double *)(const void *)(cells + stride * places[2]),
        *(const double *)(const void *)(cells + stride * places[1]),
        *(const double *)(const void *)(cells + stride * places[0])));
}

static inline void store_cells(Cell *cells, const int32_t *places, int stride, __m256 values)
{
    __m128 low = _mm256_castps256_ps128(values), high = _mm256_extractf128_ps(values, 1);
    _mm_storel_pi((__m64 *)(void *)(cells + stride * places[0]), low);
    _mm_storeh_pi((__m64 *)(void *)(cells + stride * places[1]), low);
    _mm_storel_pi((__m64 *)(void *)(cells + stride * places[2]), high);
    _mm_storeh_pi((__m64 *)(void *)(cells + stride * places[3]), high);
}

/* improve_cell of both fours; square: of their gradients; strides: their gradients times their steps; both in the order
   two of `low`, two of `high`, and so on. */
static inline void improve_eight(__m256 *low, __m256 *high, __m256 square, __m256 strides)
{
    __m256 weights = _mm256_shuffle_ps(*low, *high, 0x88);
    __m256 squares = _mm256_add_ps(_mm256_shuffle_ps(*low, *high, 0xDD), square);
    __m256 roots = _mm256_max_ps(_mm256_sqrt_ps(squares), _mm256_set1_ps(TINY));
    weights = _mm256_sub_ps(weights, _mm256_div_ps(strides, roots));
    *low = _mm256_unpacklo_ps(weights, squares);
    *high = _mm256_unpackhi_ps(weights, squares);
}

static inline float sum_lanes(__m256 lanes)
{
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
#endif

/* Rows that are needed soon: asked for one by one, between steps of work. */
typedef struct {
    const Cell *rows;
    const int32_t *places;
} Ahead;

static inline void fetch_row(const Ahead *ahead, int i)
{
    prefetch(ahead->rows + ROW * ahead->places[i]);
}

/* Of the shared cell and the one at `own` of each row; asks for half as many rows ahead. */
static inline float sum_rows(const Cell *rows, int own, const int32_t *places, int count, const Ahead *ahead)
{
    float sum = 0;
    int i = 0;
#if defined(KOMADORI_ADAGRAD_AVX2)
    __m256 sums = _mm256_setzero_ps();
    for (; i + 4 <= count; i += 4) {
        const Cell *a = rows + ROW * places[i], *b = rows + ROW * places[i + 1];
        const Cell *c = rows + ROW * places[i + 2], *d = rows + ROW * places[i + 3];
        fetch_row(ahead, i / 2);
        fetch_row(ahead, i / 2 + 1);
        sums = _mm256_add_ps(sums, _mm256_set_ps(
            d[own].weight, d->weight, c[own].weight, c->weight, b[own].weight, b->weight, a[own].weight, a->weight));
    }
    sum = sum_lanes(sums);
#endif
    for (; i < count; i++) {
        fetch_row(ahead, i / 2);
        sum += rows[ROW * places[i]].weight + rows[ROW * places[i] + own].weight;
    }
    return sum;
}

static inline void improve_row(Cell *row, int own, float gradient, float shared_step, float own_step)
{
    improve_cell(row, gradient, shared_step);
    improve_cell(row + own, gradient, own_step);
}

/* One step of the shared cell and the one at `own` of each row; asks for half as many rows ahead. */
static inline void improve_rows(Cell *rows, int own, const int32_t *places, int count, float gradient,
                                float shared_step, float own_step, const Ahead *ahead)
{
    int i = 0;
#if defined(KOMADORI_ADAGRAD_AVX2)
    const float a = gradient * shared_step, b = gradient * own_step;
    const __m256 square = _mm256_set1_ps(gradient * gradient), strides = _mm256_setr_ps(a, a, b, b, a, a, b, b);
    for (; i + 4 <= count; i += 4) {
        __m256 shared = load_cells(rows, places + i, ROW), owned = load_cells(rows + own, places + i, ROW);
        fetch_row(ahead, i / 2);
        fetch_row(ahead, i / 2 + 1);
        improve_eight(&shared, &owned, square, strides);
        store_cells(rows, places + i, ROW, shared);
        store_cells(rows + own, places + i, ROW, owned);
    }
#endif
    for (; i < count; i++) {
        fetch_row(ahead, i / 2);
        improve_row(rows + ROW * places[i], own, gradient, shared_step, own_step);
    }
}
#endif
