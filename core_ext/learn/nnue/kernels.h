/* The inner loops that train a network, in the widest vectors of the target CPU (lanes.h).

   All of them write the same bytes at every run. With AVX-512, AVX2 and without either they differ by rounding alone,
   and only `multiply` does: its products are fused into the sums if the CPU can. */
#ifndef KOMADORI_LEARN_NNUE_KERNELS_H
#define KOMADORI_LEARN_NNUE_KERNELS_H
#include <stdint.h>
#include <string.h>
#include "base/simd.h"
#include "learn/nnue/lanes.h"

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

enum {
    TILE = 64,                      /* columns of the transformer that are worked on at a time: 438 KB of K+P */
    TILE_VECTORS = TILE / LANES,
    ACTIVE_ROOM = 40,               /* features of a view, at most */
    OWN_ARRAYS = 3,                 /* weights and both moments of a row's own part lie side by side, */
    PARTS_AHEAD = 10,               /* fetched into the cache so many rows before they are summed, */
    UPDATES_AHEAD = 2,              /* so many before they are updated; */
    VIEWS_AHEAD = 3,                /* views so many before they are summed */
    STRIP_VECTORS = LANES > 1 ? 2 : 16,
    STRIP = STRIP_VECTORS * LANES,  /* columns of a product that are summed in registers, */
    ROWS = LANES == 16 ? 8 : LANES == 8 ? 4 : 2,    /* and its rows */
    ROW_STEP = 8,                   /* rows come in multiples of this: whole ROWS of every form */
    COLUMN_STEP = 32                /* and columns: whole STRIPs */
};

/* The features of a batch's views: of each position that of the side to move, then the other one. The transformer works
   on `count` of them: those that `order` names, or the first ones if it is NULL. */
typedef struct {
    const uint16_t *active;         /* [position][2][ACTIVE_ROOM] */
    const uint8_t *counts;          /* [position]; both views have as many */
    const int32_t *order;
    int count;
    int positions;
} Views;

/* A row of one own king's that a batch uses (half_kp.pxd). */
typedef struct {
    int32_t number;                 /* Bonapiece number: its place among the king's rows, and its first shared row */
    int32_t offset;                 /* its second shared row, or -1 */
    float keep;                     /* by the decay of the steps that the row was left out of */
    float rate;                     /* share of the step's rate, by the number of the row's own steps */
    float second_correction;        /* of the bias of its second moment, by the same */
} UsedRow;

/* out = start + left right, matrices of floats in memory. Steps are the distances of rows; the elements of a row lie side
   by side, but those of the left matrix have a distance too, so that it can be taken turned. */
typedef struct {
    const float *left;              /* [rows][inner] */
    const float *right;             /* [inner][columns] */
    const float *start;             /* [rows][columns], or NULL for zeros; a step of 0 repeats one row */
    float *out;                     /* [rows][columns] */
    int left_step;
    int left_column_step;
    int right_step;
    int start_step;
    int out_step;
    int rows;                       /* in whole ROW_STEPs */
    int inner;
    int columns;                    /* in whole COLUMN_STEPs */
} Product;

/* One step of Adam for weights of one kind. */
typedef struct {
    float rate;                     /* with the correction of the first moment's bias */
    float second_correction;        /* 1 / sqrt(1 - beta2^step) */
    float epsilon;
    float keep;                     /* 1 - weight decay */
    float limit;                    /* largest magnitude of a weight */
    int rounded;                    /* 1 if the next forward pass uses whole numbers */
} AdamStep;

#define ADAM_BETA1 0.9f
#define ADAM_BETA2 0.999f
#define NEGLIGIBLE 1e-30f           /* smaller moments become 0 before they become slow subnormal numbers */
#define ACTIVATION_LIMIT 127.0f
#define ROW_LIMIT 32767.0f          /* of the transformer, int16 in the file */

static inline void prefetch_tile(const float *row)
{
    int j;
    for (j = 0; j < TILE; j += 16)
        prefetch(row + j);
}

/* The number of the n-th view. Those in an order lie anywhere: one a few steps later is fetched into the cache. */
static inline int view_number(const Views *views, int n, const float *sums, int width)
{
    if (views->order == NULL)
        return n;
    if (n + VIEWS_AHEAD < views->count) {
        const size_t later = (size_t)views->order[n + VIEWS_AHEAD];
        prefetch(views->active + later * ACTIVE_ROOM);
        prefetch(views->active + (later + 1) * ACTIVE_ROOM - 1);
        prefetch_tile(sums + later * width);
    }
    return views->order[n];
}

/* The sums of a tile for the views: its last row, the bias, and the rows of the active features.
   rows [features + 1][TILE]; sums [view][width], of which TILE columns are written. */
static void transform_tile(const float *rows, int features, const Views *views, float *sums, int width)
{
    int n, i, j;
    for (n = 0; n < views->count; n++) {
        const int view = view_number(views, n, sums, width);
        const uint16_t *active = views->active + (size_t)view * ACTIVE_ROOM;
        const int count = views->counts[view / 2];
        Lanes sum[TILE_VECTORS];
        for (j = 0; j < TILE_VECTORS; j++)
            sum[j] = load_lanes(rows + (size_t)features * TILE + j * LANES);
        for (i = 0; i < count; i++)
            for (j = 0; j < TILE_VECTORS; j++)
                sum[j] = add_lanes(sum[j], load_lanes(rows + (size_t)active[i] * TILE + j * LANES));
        for (j = 0; j < TILE_VECTORS; j++)
            store_lanes(sums + (size_t)view * width + j * LANES, sum[j]);
    }
}

static inline void add_to_row(float *row, const Lanes *addend)
{
    int j;
    for (j = 0; j < TILE_VECTORS; j++)
        store_lanes(row + j * LANES, add_lanes(load_lanes(row + j * LANES), addend[j]));
}

/* Backward: add the gradients of the sums to those of a tile's rows. */
static void collect_tile(float *rows, int features, const Views *views, const float *deltas, int width)
{
    int n, i, j;
    for (n = 0; n < views->count; n++) {
        const int view = view_number(views, n, deltas, width);
        const uint16_t *active = views->active + (size_t)view * ACTIVE_ROOM;
        const int count = views->counts[view / 2];
        Lanes delta[TILE_VECTORS];
        for (j = 0; j < TILE_VECTORS; j++)
            delta[j] = load_lanes(deltas + (size_t)view * width + j * LANES);
        add_to_row(rows + (size_t)features * TILE, delta);
        for (i = 0; i < count; i++)
            add_to_row(rows + (size_t)active[i] * TILE, delta);
    }
}

/* The used rows of a tile and an own king, each the sum of its own part and of its shared rows, in whole numbers if the
   integers of play are imitated. own [number][OWN_ARRAYS][TILE], of which the first is used; rows [number][TILE];
   shared [row][TILE]. */
static void sum_parts(const UsedRow *used, int count, const float *own, const float *shared, int rounded, float *rows)
{
    const Lanes limit = all_lanes(ROW_LIMIT), lowest = all_lanes(-ROW_LIMIT);
    int i, j;
    for (i = 0; i < count; i++) {
        const size_t place = (size_t)used[i].number * TILE;
        const float *part = own + place * OWN_ARRAYS;
        const float *offset = shared + (size_t)(used[i].offset < 0 ? 0 : used[i].offset) * TILE;
        const Lanes keep = all_lanes(used[i].keep);
        if (i + PARTS_AHEAD < count)
            prefetch_tile(own + (size_t)used[i + PARTS_AHEAD].number * OWN_ARRAYS * TILE);
        for (j = 0; j < TILE; j += LANES) {
            Lanes sum = add_lanes(multiply_lanes(keep, load_lanes(part + j)), load_lanes(shared + place + j));
            if (used[i].offset >= 0)
                sum = add_lanes(sum, load_lanes(offset + j));
            sum = smaller_lanes(larger_lanes(sum, lowest), limit);
            store_lanes(rows + place + j, rounded ? nearest_lanes(sum) : sum);
        }
    }
}

static inline void start_strip(const Product *product, int row, int column, Lanes sum[ROWS][STRIP_VECTORS])
{
    int i, j;
    UNROLLED
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < STRIP_VECTORS; j++)
            sum[i][j] = product->start == NULL ? all_lanes(0)
                : load_lanes(product->start + (size_t)(row + i) * product->start_step + column + j * LANES);
}

/* ROWS x STRIP elements of a product, summed in registers. */
static inline void multiply_strip(const Product *product, int row, int column)
{
    const float *factors = product->left + (size_t)row * product->left_step, *right = product->right + column;
    float *out = product->out + (size_t)row * product->out_step + column;
    const size_t step = (size_t)product->left_step;
    Lanes sum[ROWS][STRIP_VECTORS];
    int i, j, k;
    start_strip(product, row, column, sum);
    for (k = 0; k < product->inner; k++, factors += product->left_column_step, right += product->right_step)
        UNROLLED
        for (i = 0; i < ROWS; i++) {
            const Lanes factor = all_lanes(factors[i * step]);
            for (j = 0; j < STRIP_VECTORS; j++)
                sum[i][j] = multiply_add_lanes(factor, load_lanes(right + j * LANES), sum[i][j]);
        }
    UNROLLED
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < STRIP_VECTORS; j++)
            store_lanes(out + (size_t)i * product->out_step + j * LANES, sum[i][j]);
}

static void multiply(const Product *product)
{
    int row, column;
    for (column = 0; column < product->columns; column += STRIP)
        for (row = 0; row < product->rows; row += ROWS)
            multiply_strip(product, row, column);
}

/* out[i] = sums[i] / divisor between 0 and ACTIVATION_LIMIT, rounded down if the integers of play are imitated. */
static void clip(const float *sums, float factor, int rounded, float *out, int count)
{
    const Lanes zero = all_lanes(0), limit = all_lanes(ACTIVATION_LIMIT), scale = all_lanes(factor);
    int i;
    for (i = 0; i < count; i += LANES) {
        Lanes value = multiply_lanes(load_lanes(sums + i), scale);
        value = smaller_lanes(larger_lanes(value, zero), limit);
        store_lanes(out + i, rounded ? floor_lanes(value) : value);
    }
}

/* Gradients of the sums from those of the activations: none if the activation was clipped. */
static void unclip(const float *activations, float factor, float *deltas, int count)
{
    const Lanes zero = all_lanes(0), limit = all_lanes(ACTIVATION_LIMIT), scale = all_lanes(factor);
    int i;
    for (i = 0; i < count; i += LANES) {
        const Lanes delta = multiply_lanes(load_lanes(deltas + i), scale);
        store_lanes(deltas + i, select_lanes(load_lanes(activations + i), zero, limit, delta));
    }
}

static void add_rows(float *out, const float *rows, int step, int count, int columns)
{
    int i, j;
    for (i = 0; i < count; i++)
        for (j = 0; j < columns; j += LANES)
            store_lanes(out + j, add_lanes(load_lanes(out + j), load_lanes(rows + (size_t)i * step + j)));
}

static inline Lanes without_negligible(Lanes a)
{
    const Lanes nothing = select_lanes(a, all_lanes(-NEGLIGIBLE), all_lanes(NEGLIGIBLE), a);
    return subtract_lanes(a, nothing);
}

/* Adam (D. Kingma and J. Ba, 2015) with decoupled weight decay (I. Loshchilov and F. Hutter, 2019). */
static void improve(float *weights, float *first, float *second, float *forward, const float *gradient, int count,
                    const AdamStep *step)
{
    const Lanes limit = all_lanes(step->limit), keep = all_lanes(step->keep), rate = all_lanes(step->rate);
    int i;
    for (i = 0; i < count; i += LANES) {
        const Lanes slope = load_lanes(gradient + i);
        Lanes m = multiply_lanes(all_lanes(ADAM_BETA1), load_lanes(first + i));
        Lanes v = multiply_lanes(all_lanes(ADAM_BETA2), load_lanes(second + i));
        Lanes weight = multiply_lanes(keep, load_lanes(weights + i)), root;
        m = without_negligible(add_lanes(m, multiply_lanes(all_lanes(1 - ADAM_BETA1), slope)));
        v = without_negligible(add_lanes(v, multiply_lanes(all_lanes(1 - ADAM_BETA2), multiply_lanes(slope, slope))));
        root = add_lanes(multiply_lanes(root_lanes(v), all_lanes(step->second_correction)), all_lanes(step->epsilon));
        weight = subtract_lanes(weight, divide_lanes(multiply_lanes(rate, m), root));
        weight = smaller_lanes(larger_lanes(weight, subtract_lanes(all_lanes(0), limit)), limit);
        store_lanes(first + i, m);
        store_lanes(second + i, v);
        store_lanes(weights + i, weight);
        store_lanes(forward + i, step->rounded ? nearest_lanes(weight) : weight);
    }
}

/* The kernels of one form, so that two forms can be tested side by side. */
typedef struct {
    const char *name;
    void (*transform_tile)(const float *, int, const Views *, float *, int);
    void (*collect_tile)(float *, int, const Views *, const float *, int);
    void (*multiply)(const Product *);
    void (*clip)(const float *, float, int, float *, int);
    void (*unclip)(const float *, float, float *, int);
    void (*add_rows)(float *, const float *, int, int, int);
    void (*improve)(float *, float *, float *, float *, const float *, int, const AdamStep *);
    void (*sum_parts)(const UsedRow *, int, const float *, const float *, int, float *);
} Kernels;

static const Kernels compiled_kernels = {
    LANES_NAME, transform_tile, collect_tile, multiply, clip, unclip, add_rows, improve, sum_parts,
};
#endif
