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
/* Eight sums to squares and to clipped activations. Words saturate at 16 bits, far above what gives 127. */
static inline void nnue_squares_8(uint8_t *squares, uint8_t *clipped, const int32_t *sums)
{
    __m128i words = _mm_packs_epi32(NNUE_LOAD4(sums), NNUE_LOAD4(sums + 4));
    __m128i high = _mm_srli_epi16(_mm_mulhi_epi16(words, words), NNUE_SQUARE_SHIFT - 16);
    __m128i low = _mm_srli_epi16(_mm_max_epi16(words, _mm_setzero_si128()), NNUE_SHIFT);
    __m128i bytes = _mm_packs_epi16(high, low);
    _mm_storel_epi64((__m128i *)(void *)squares, bytes);
    _mm_storel_epi64((__m128i *)(void *)clipped, _mm_unpackhi_epi64(bytes, bytes));
}

static inline void nnue_squares(uint8_t *out, const int32_t *sums, int count)
{
    int at;
    for (at = 0; at < count; at += 8)
        nnue_squares_8(out + at, out + count + at, sums + at);
}

#if NNUE_BYTES == 64
static inline void nnue_hidden_16(uint8_t *out, const int32_t *sums)
{
    NnueVector clipped = _mm512_max_epi32(_mm512_srai_epi32(NNUE_LOAD(sums), NNUE_SHIFT), NNUE_ZERO());
    clipped = _mm512_min_epi32(clipped, _mm512_set1_epi32(NNUE_ACTIVE));
    NNUE_STORE4(out, _mm512_cvtepi32_epi8(clipped));
}
#elif NNUE_BYTES == 32
static inline void nnue_hidden_16(uint8_t *out, const int32_t *sums)
{
    NnueVector low = _mm256_srai_epi32(NNUE_LOAD(sums), NNUE_SHIFT);
    NnueVector packed = _mm256_packs_epi32(low, _mm256_srai_epi32(NNUE_LOAD(sums + 8), NNUE_SHIFT));
    __m128i bytes;
    packed = _mm256_permute4x64_epi64(packed, 0xD8);
    bytes = _mm_packs_epi16(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
    NNUE_STORE4(out, _mm_max_epi8(bytes, _mm_setzero_si128()));
}
#else
static inline void nnue_hidden_16(uint8_t *out, const int32_t *sums)
{
    NnueVector low, high;
    low = _mm_packs_epi32(_mm_srai_epi32(NNUE_LOAD(sums), NNUE_SHIFT), _mm_srai_epi32(NNUE_LOAD(sums + 4), NNUE_SHIFT));
    high = _mm_packs_epi32(_mm_srai_epi32(NNUE_LOAD(sums + 8), NNUE_SHIFT),
                           _mm_srai_epi32(NNUE_LOAD(sums + 12), NNUE_SHIFT));
    NNUE_STORE(out, _mm_max_epi8(_mm_packs_epi16(low, high), NNUE_ZERO()));
}
#endif

static inline void nnue_hidden(uint8_t *out, const int32_t *sums, int count)
{
    int at;
    uint8_t squares[8];
    for (at = 0; at + 16 <= count; at += 16)
        nnue_hidden_16(out + at, sums + at);
    if (at < count)
        nnue_squares_8(squares, out + at, sums + at);
}

#else
#define nnue_hidden portable_hidden
#define nnue_squares portable_squares
#endif
#endif
