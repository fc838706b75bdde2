/* Sums of small weights picked from a row by a list of columns, eight at a time. */
#ifndef KOMADORI_GATHER_H
#define KOMADORI_GATHER_H
#include <stdint.h>

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#define KOMADORI_AVX2 1
#endif

/* Sum row[columns[i]] over `blocks` times eight columns; a weight has `bits` bits. A gather reads four bytes, so those
   after the last weight must be readable. Shifting a weight up and down again extends its sign. */
#if defined(KOMADORI_AVX2)
#define KOMADORI_DEFINE_SUM(name, weight, bits) \
    static inline int32_t name(const weight *row, const int32_t *columns, int blocks) \
    { \
        __m256i sum = _mm256_setzero_si256(); \
        __m128i half; \
        int i; \
        for (i = 0; i < blocks; i++) { \
            __m256i at = _mm256_loadu_si256((const __m256i *)(columns + 8 * i)); \
            __m256i words = _mm256_i32gather_epi32((const int *)(const void *)row, at, (bits) / 8); \
            words = _mm256_slli_epi32(words, 32 - (bits)); \
            sum = _mm256_add_epi32(sum, _mm256_srai_epi32(words, 32 - (bits))); \
        } \
        half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)); \
        half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E)); \
        half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1)); \
        return _mm_cvtsi128_si32(half); \
    }
#else
#define KOMADORI_DEFINE_SUM(name, weight, bits) \
    static inline int32_t name(const weight *row, const int32_t *columns, int blocks) \
    { \
        int32_t sum = 0; \
        int i; \
        for (i = 0; i < 8 * blocks; i++) \
            sum += row[columns[i]]; \
        return sum; \
    }
#endif

KOMADORI_DEFINE_SUM(sum_columns, int16_t, 16)
KOMADORI_DEFINE_SUM(sum_bytes, int8_t, 8)
#endif
