/* Activations of the transformer's sums: inputs of the dense layers, 0 to 127. */
#ifndef KOMADORI_NNUE_ACTIVATION_H
#define KOMADORI_NNUE_ACTIVATION_H
#include "eval/nnue/vectors.h"

#define NNUE_ACTIVE 127         /* an activation's largest value */
#define NNUE_FACTOR 254         /* a factor's largest value, SFNN */
#define NNUE_PRODUCT_SHIFT 9    /* a product of two factors is in 1/512 */

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

/* SFNN: each of the first half's sums times its partner in the second half, both clipped to 0..254, / 512:
 * width / 2 outputs, a multiple of 32. */
static inline void portable_multiply(uint8_t *out, const int16_t *sums, int width)
{
    int half = width / 2, i;
    for (i = 0; i < half; i++)
        out[i] = (uint8_t)(nnue_limit(sums[i], NNUE_FACTOR) * nnue_limit(sums[half + i], NNUE_FACTOR)
                           >> NNUE_PRODUCT_SHIFT);
}

#if NNUE_BYTES
/* nnue_products: one vector of products in 1/512. The high half of a 32-bit product divides it by 2^16, so the left
 * factor is multiplied by 2^7 first; a negative right factor gives a negative product, which packing clips to 0. */
#if NNUE_BYTES == 64
static inline NnueVector nnue_products(const int16_t *left, const int16_t *right)
{
    const NnueVector most = _mm512_set1_epi16(NNUE_FACTOR);
    NnueVector a = _mm512_max_epi16(_mm512_min_epi16(NNUE_LOAD(left), most), NNUE_ZERO());
    return _mm512_mulhi_epi16(_mm512_slli_epi16(a, 16 - NNUE_PRODUCT_SHIFT), _mm512_min_epi16(NNUE_LOAD(right), most));
}

static inline void nnue_clip_32(uint8_t *out, const int16_t *sums)
{
    NnueVector clipped = _mm512_max_epi16(NNUE_LOAD(sums), NNUE_ZERO());
    NNUE_STORE8(out, _mm512_cvtepi16_epi8(_mm512_min_epi16(clipped, _mm512_set1_epi16(NNUE_ACTIVE))));
}

static inline void nnue_multiply_32(uint8_t *out, const int16_t *left, const int16_t *right)
{
    NnueVector products = _mm512_max_epi16(nnue_products(left, right), NNUE_ZERO());
    NNUE_STORE8(out, _mm512_cvtepi16_epi8(products));
}

static inline void nnue_multiply_64(uint8_t *out, const int16_t *left, const int16_t *right)
{
    const NnueVector order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);     /* packing interleaves the quarters */
    NnueVector packed = _mm512_packus_epi16(nnue_products(left, right), nnue_products(left + 32, right + 32));
    NNUE_STORE(out, _mm512_permutexvar_epi64(order, packed));
}
#elif NNUE_BYTES == 32
static inline NnueVector nnue_products(const int16_t *left, const int16_t *right)
{
    const NnueVector most = _mm256_set1_epi16(NNUE_FACTOR);
    NnueVector a = _mm256_max_epi16(_mm256_min_epi16(NNUE_LOAD(left), most), NNUE_ZERO());
    return _mm256_mulhi_epi16(_mm256_slli_epi16(a, 16 - NNUE_PRODUCT_SHIFT), _mm256_min_epi16(NNUE_LOAD(right), most));
}

static inline void nnue_clip_32(uint8_t *out, const int16_t *sums)
{
    NnueVector packed = _mm256_packs_epi16(NNUE_LOAD(sums), NNUE_LOAD(sums + 16));
    packed = _mm256_permute4x64_epi64(packed, 0xD8);    /* packing interleaves the halves */
    NNUE_STORE(out, _mm256_max_epi8(packed, NNUE_ZERO()));
}

static inline void nnue_multiply_32(uint8_t *out, const int16_t *left, const int16_t *right)
{
    NnueVector packed = _mm256_packus_epi16(nnue_products(left, right), nnue_products(left + 16, right + 16));
    NNUE_STORE(out, _mm256_permute4x64_epi64(packed, 0xD8));
}
#else
static inline NnueVector nnue_products(const int16_t *left, const int16_t *right)
{
    const NnueVector most = _mm_set1_epi16(NNUE_FACTOR);
    NnueVector a = _mm_max_epi16(_mm_min_epi16(NNUE_LOAD(left), most), NNUE_ZERO());
    return _mm_mulhi_epi16(_mm_slli_epi16(a, 16 - NNUE_PRODUCT_SHIFT), _mm_min_epi16(NNUE_LOAD(right), most));
}

static inline void nnue_clip_32(uint8_t *out, const int16_t *sums)
{
    int at;
    for (at = 0; at < 32; at += 16) {
        NnueVector packed = _mm_packs_epi16(NNUE_LOAD(sums + at), NNUE_LOAD(sums + at + 8));
        NNUE_STORE(out + at, _mm_max_epi8(packed, NNUE_ZERO()));
    }
}

static inline void nnue_multiply_32(uint8_t *out, const int16_t *left, const int16_t *right)
{
    int at;
    for (at = 0; at < 32; at += 16)
        NNUE_STORE(out + at, _mm_packus_epi16(nnue_products(left + at, right + at),
                                              nnue_products(left + at + 8, right + at + 8)));
}
#endif

static inline void nnue_clip(uint8_t *out, const int16_t *sums, int width)
{
    int at;
    for (at = 0; at < width; at += 32)
        nnue_clip_32(out + at, sums + at);
}

static inline void nnue_multiply(uint8_t *out, const int16_t *sums, int width)
{
    int half = width / 2, at = 0;
#if NNUE_BYTES == 64
    for (; at + 64 <= half; at += 64)
        nnue_multiply_64(out + at, sums + at, sums + half + at);
#endif
    for (; at < half; at += 32)
        nnue_multiply_32(out + at, sums + at, sums + half + at);
}
#else
#define nnue_clip portable_clip
#define nnue_multiply portable_multiply
#endif
#endif
