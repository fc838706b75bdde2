/* Activations of the hidden layers: sums to inputs of the next layer, 0 to 127. */
#ifndef KOMADORI_NNUE_HIDDEN_H
#define KOMADORI_NNUE_HIDDEN_H
#include "eval/nnue/activation.h"
#include "eval/nnue/vectors.h"

#define NNUE_SHIFT 6            /* sums are in 1/64 of an activation */
#define NNUE_SQUARE_SHIFT 19    /* and their squares in 1/2^19 */

/* Sums of a layer to activations: 1/64 of them, rounded down, clipped to 0..127. `count` is a multiple of 8. */
static inline void portable_hidden(uint8_t *out, const int32_t *sums, int count)
{
    int i;
    for (i = 0; i < count; i++)
        out[i] = (uint8_t)nnue_limit(sums[i] >> NNUE_SHIFT, NNUE_ACTIVE);
}

/* SFNN: the squares of the sums / 2^19, at most 127, then the same as portable_hidden: 2 x `count` activations. */
static inline void portable_squares(uint8_t *out, const int32_t *sums, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        int64_t square = (int64_t)sums[i] * sums[i] >> NNUE_SQUARE_SHIFT;
        out[i] = (uint8_t)(square > NNUE_ACTIVE ? NNUE_ACTIVE : square);
    }
    portable_hidden(out + count, sums, count);
}

#if NNUE_BYTES
/* Eight sums in 1/64 of an activation. Words saturate at 16 bits, far above what gives 127. */
#define NNUE_SCALED4(sums) NNUE_SHIFT32_4(NNUE_LOAD4(sums), NNUE_SHIFT)
#define NNUE_SCALED8(sums) NNUE_PACK32_4(NNUE_SCALED4(sums), NNUE_SCALED4((sums) + 4))

static inline void nnue_hidden(uint8_t *out, const int32_t *sums, int count)
{
    int at = 0;
    for (; at + 16 <= count; at += 16) {
        NnueFour bytes = NNUE_PACK16_4(NNUE_SCALED8(sums + at), NNUE_SCALED8(sums + at + 8));
        NNUE_STORE4(out + at, NNUE_MAX8_4(bytes, NNUE_ZERO4()));
    }
    portable_hidden(out + at, sums + at, count - at);
}

/* Eight at a time, because the first layer of SFNN often has eight outputs. */
static inline void nnue_squares(uint8_t *out, const int32_t *sums, int count)
{
    int at;
    for (at = 0; at < count; at += 8) {
        NnueFour words = NNUE_PACK32_4(NNUE_LOAD4(sums + at), NNUE_LOAD4(sums + at + 4));
        NnueFour squares = NNUE_SHIFT16_4(NNUE_SQUARE_HIGH4(words), NNUE_SQUARE_SHIFT - 16);
        NnueFour clipped = NNUE_SHIFT16_4(NNUE_MAX16_4(words, NNUE_ZERO4()), NNUE_SHIFT);
        NnueFour bytes = NNUE_PACK16_4(squares, clipped);
        NNUE_LOW_HALF(out + at, bytes);
        NNUE_HIGH_HALF(out + count + at, bytes);
    }
}
#else
#define nnue_hidden portable_hidden
#define nnue_squares portable_squares
#endif
#endif
