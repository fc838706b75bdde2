/* Sums of 16-bit weights picked from a row by a list of columns, eight at a time. */
#ifndef KOMADORI_GATHER_H
#define KOMADORI_GATHER_H
#include <stdint.h>

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#define KOMADORI_AVX2 1
#endif

#if defined(KOMADORI_AVX2)
static inline int32_t sum_eight(__m256i sums)
{
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtsi128_si32(half);
}
#endif

/* Sum of row[columns[i]] over `blocks` times eight columns. Two bytes beyond the last weight must be readable. */
static inline int32_t sum_columns(const int16_t *row, const int32_t *columns, int blocks)
{
#if defined(KOMADORI_AVX2)
    __m256i sum = _mm256_setzero_si256();
    int i;
    for (i = 0; i < blocks; i++) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(columns + 8 * i));
        __m256i words = _mm256_i32gather_epi32((const int *)(const void *)row, at, 2);
        /* The low half is the weight: shifting it up and down again extends its sign. */
        sum = _mm256_add_epi32(sum, _mm256_srai_epi32(_mm256_slli_epi32(words, 16), 16));
    }
    return sum_eight(sum);
#else
    int32_t sum = 0;
    int i;
    for (i = 0; i < 8 * blocks; i++)
        sum += row[columns[i]];
    return sum;
#endif
}

/* The same of 8-bit weights: half the cache lines. Three bytes beyond the last weight must be readable. */
static inline int32_t sum_bytes(const int8_t *row, const int32_t *columns, int blocks)
{
#if defined(KOMADORI_AVX2)
    __m256i sum = _mm256_setzero_si256();
    int i;
    for (i = 0; i < blocks; i++) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(columns + 8 * i));
        __m256i bytes = _mm256_i32gather_epi32((const int *)(const void *)row, at, 1);
        sum = _mm256_add_epi32(sum, _mm256_srai_epi32(_mm256_slli_epi32(bytes, 24), 24));
    }
    return sum_eight(sum);
#else
    int32_t sum = 0;
    int i;
    for (i = 0; i < 8 * blocks; i++)
        sum += row[columns[i]];
    return sum;
#endif
}
#endif
