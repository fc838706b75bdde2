/* Rows of the transformer added to and subtracted from its sums. A row is `width` int16, a multiple of 32. */
#ifndef KOMADORI_NNUE_ROWS_H
#define KOMADORI_NNUE_ROWS_H
#include "eval/nnue/vectors.h"

static inline int16_t nnue_wrap16(uint32_t word)
{
    return (int16_t)(uint16_t)word;
}

/* out = in - the rows of `removed` + the rows of `added`; out may be in. */
static inline void portable_accumulate(int16_t *out, const int16_t *in, int width, const int16_t *rows,
                                       const int32_t *removed, int removals, const int32_t *added, int additions)
{
    const int16_t *row;
    int i, k;
    if (out != in)
        memcpy(out, in, (size_t)width * sizeof(int16_t));
    for (k = 0; k < removals; k++) {
        row = rows + (size_t)removed[k] * (size_t)width;
        for (i = 0; i < width; i++)
            out[i] = nnue_wrap16((uint32_t)out[i] - (uint32_t)row[i]);
    }
    for (k = 0; k < additions; k++) {
        row = rows + (size_t)added[k] * (size_t)width;
        for (i = 0; i < width; i++)
            out[i] = nnue_wrap16((uint32_t)out[i] + (uint32_t)row[i]);
    }
}

#if NNUE_BYTES
#define NNUE_ROW_TILE 8         /* vectors held in registers at a time */

/* Sum `vectors` vectors, a constant at each call. */
static inline void nnue_accumulate_tile(int16_t *out, const int16_t *in, int width, const int16_t *rows,
                                        const int32_t *removed, int removals, const int32_t *added, int additions,
                                        const int vectors)
{
    NnueVector sum[NNUE_ROW_TILE];
    const int16_t *row;
    int i, k;
    for (i = 0; i < vectors; i++)
        sum[i] = NNUE_LOAD(in + i * NNUE_LANES16);
    for (k = 0; k < removals; k++) {
        row = rows + (size_t)removed[k] * (size_t)width;
        for (i = 0; i < vectors; i++)
            sum[i] = NNUE_SUB16(sum[i], NNUE_LOAD(row + i * NNUE_LANES16));
    }
    for (k = 0; k < additions; k++) {
        row = rows + (size_t)added[k] * (size_t)width;
        for (i = 0; i < vectors; i++)
            sum[i] = NNUE_ADD16(sum[i], NNUE_LOAD(row + i * NNUE_LANES16));
    }
    for (i = 0; i < vectors; i++)
        NNUE_STORE(out + i * NNUE_LANES16, sum[i]);
}

/* Replace one or two rows, as most moves do; `pairs`, a constant at each call, says how many. */
static inline void nnue_replace_rows(int16_t *out, const int16_t *in, int width, const int16_t *rows,
                                     const int32_t *removed, const int32_t *added, const int pairs)
{
    const int16_t *gone[2], *come[2];
    NnueVector sum;
    size_t at, i;
    int k;
    for (k = 0; k < pairs; k++) {
        gone[k] = rows + (size_t)removed[k] * (size_t)width;
        come[k] = rows + (size_t)added[k] * (size_t)width;
    }
    for (at = 0; at < (size_t)width; at += 32)
        for (i = 0; i < 32; i += NNUE_LANES16) {
            sum = NNUE_LOAD(in + at + i);
            for (k = 0; k < pairs; k++)
                sum = NNUE_ADD16(NNUE_SUB16(sum, NNUE_LOAD(gone[k] + at + i)), NNUE_LOAD(come[k] + at + i));
            NNUE_STORE(out + at + i, sum);
        }
}

static inline void nnue_accumulate(int16_t *out, const int16_t *in, int width, const int16_t *rows,
                                   const int32_t *removed, int removals, const int32_t *added, int additions)
{
    int at = 0;
    if (removals == 1 && additions == 1) {
        nnue_replace_rows(out, in, width, rows, removed, added, 1);
        return;
    }
    if (removals == 2 && additions == 2) {
        nnue_replace_rows(out, in, width, rows, removed, added, 2);
        return;
    }
    for (; at + NNUE_ROW_TILE * NNUE_LANES16 <= width; at += NNUE_ROW_TILE * NNUE_LANES16)
        nnue_accumulate_tile(out + at, in + at, width, rows + at, removed, removals, added, additions, NNUE_ROW_TILE);
    for (; at < width; at += 32)
        nnue_accumulate_tile(out + at, in + at, width, rows + at, removed, removals, added, additions,
                             32 / NNUE_LANES16);
}
#else
#define nnue_accumulate portable_accumulate
#endif
#endif
