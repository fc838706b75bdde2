/* Activations of the transformer's sums: inputs of the dense layers, 0 to 127. */
#ifndef KOMADORI_NNUE_ACTIVATION_H
#define KOMADORI_NNUE_ACTIVATION_H
#include "eval/nnue/vectors.h"

#define NNUE_ACTIVE 127         /* an activation's largest value */
#define NNUE_FACTOR 254         /* a factor's largest value, SFNN */

static inline int nnue_limit(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* Sums clipped to 0..127: `width` outputs, a multiple of 32. */
static inline void portable_clip(uint8_t *out, const int16_t *sums, int width)
{
    int i;
    for (i = 0; i < width; i++)
        out[i] = (uint8_t)nnue_limit(sums[i], NNUE_ACTIVE);
}

/* Products of `count` pairs of sums, a multiple of 32, each clipped to 0..254, / 512. */
static inline void portable_products(uint8_t *out, const int16_t *left, const int16_t *right, int count)
{
    int i;
    for (i = 0; i < count; i++)
        out[i] = (uint8_t)(nnue_limit(left[i], NNUE_FACTOR) * nnue_limit(right[i], NNUE_FACTOR) >> NNUE_PRODUCT_SHIFT);
}

/* SFNN: each of the first half's sums times its partner in the second half: width / 2 outputs. */
static inline void portable_multiply(uint8_t *out, const int16_t *sums, int width)
{
    portable_products(out, sums, sums + width / 2, width / 2);
}

#if NNUE_BYTES
/* The loops end with the portable form: of 32 numbers, if AVX-512 is used. */
static inline void nnue_clip(uint8_t *out, const int16_t *sums, int width)
{
    int at = 0;
    for (; at + NNUE_BYTES <= width; at += NNUE_BYTES) {
        NnueVector packed = NNUE_PACK16(NNUE_LOAD(sums + at), NNUE_LOAD(sums + at + NNUE_LANES16));
        NNUE_STORE(out + at, NNUE_MAX8(packed, NNUE_ZERO()));
    }
    portable_clip(out + at, sums + at, width - at);
}

/* One vector of products. A negative right factor gives a negative product, which packing clips to 0. */
static inline NnueVector nnue_products(const int16_t *left, const int16_t *right)
{
    const NnueVector most = NNUE_SPREAD16(NNUE_FACTOR);
    NnueVector a = NNUE_MAX16(NNUE_MIN16(NNUE_LOAD(left), most), NNUE_ZERO());
    return NNUE_PRODUCT(a, NNUE_MIN16(NNUE_LOAD(right), most));
}

static inline void nnue_multiply(uint8_t *out, const int16_t *sums, int width)
{
    const int16_t *right = sums + width / 2;
    const size_t count = (size_t)width / 2;
    size_t at = 0;
    for (; at + NNUE_BYTES <= count; at += NNUE_BYTES)
        NNUE_STORE(out + at, NNUE_PACKU16(nnue_products(sums + at, right + at),
                                          nnue_products(sums + at + NNUE_LANES16, right + at + NNUE_LANES16)));
    portable_products(out + at, sums + at, right + at, (int)(count - at));
}
#else
#define nnue_clip portable_clip
#define nnue_multiply portable_multiply
#endif
#endif
