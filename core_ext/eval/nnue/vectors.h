/* Vectors of the network's kernels: AVX-512 (with VNNI if there is), AVX2 or SSE4.1, chosen at compile time.
 *
 * Each kernel has a portable form, always compiled, and a vector form if NNUE_BYTES is not 0; both give the same bits.
 * Sums wrap at 16 and 32 bits in every form. */
#ifndef KOMADORI_NNUE_VECTORS_H
#define KOMADORI_NNUE_VECTORS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#if defined(__AVX512VNNI__)
#define NNUE_INSTRUCTIONS "AVX-512 VNNI"
#define NNUE_VNNI 1
#else
#define NNUE_INSTRUCTIONS "AVX-512"
#endif
#define NNUE_BYTES 64
typedef __m512i NnueVector;
#define NNUE_LOAD(from) _mm512_loadu_si512((const void *)(from))
#define NNUE_STORE(to, vector) _mm512_storeu_si512((void *)(to), vector)
#define NNUE_ADD16 _mm512_add_epi16
#define NNUE_SUB16 _mm512_sub_epi16
#define NNUE_ADD32 _mm512_add_epi32
#define NNUE_SPREAD32 _mm512_set1_epi32
#define NNUE_ZERO _mm512_setzero_si512

#elif !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#define NNUE_INSTRUCTIONS "AVX2"
#define NNUE_BYTES 32
typedef __m256i NnueVector;
#define NNUE_LOAD NNUE_LOAD8
#define NNUE_STORE NNUE_STORE8
#define NNUE_ADD16 _mm256_add_epi16
#define NNUE_SUB16 _mm256_sub_epi16
#define NNUE_ADD32 _mm256_add_epi32
#define NNUE_SPREAD32 _mm256_set1_epi32
#define NNUE_ZERO _mm256_setzero_si256

#elif !defined(CORE_EXT_PORTABLE) && (defined(__SSE4_1__) || (defined(_M_X64) && CORE_EXT_LEVEL >= 2))
#include <smmintrin.h>
#include <tmmintrin.h>
#define NNUE_INSTRUCTIONS "SSE4.1"
#define NNUE_BYTES 16
typedef __m128i NnueVector;
#define NNUE_LOAD NNUE_LOAD4
#define NNUE_STORE NNUE_STORE4
#define NNUE_ADD16 _mm_add_epi16
#define NNUE_SUB16 _mm_sub_epi16
#define NNUE_ADD32 _mm_add_epi32
#define NNUE_SPREAD32 _mm_set1_epi32
#define NNUE_ZERO _mm_setzero_si128

#else
#define NNUE_INSTRUCTIONS "portable"
#define NNUE_BYTES 0
#endif

#define NNUE_LANES16 (NNUE_BYTES / 2)
#define NNUE_LANES32 (NNUE_BYTES / 4)

#if NNUE_BYTES
/* Four and eight 32-bit words, in any build with that many. */
#define NNUE_LOAD4(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define NNUE_STORE4(to, vector) _mm_storeu_si128((__m128i *)(void *)(to), vector)
#define NNUE_LOAD8(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define NNUE_STORE8(to, vector) _mm256_storeu_si256((__m256i *)(void *)(to), vector)

/* Add to each 32-bit sum the products of its four unsigned inputs, 0 to 127, and its four signed weights. */
static inline __m128i nnue_dot4(__m128i sum, __m128i inputs, __m128i weights)
{
#if defined(NNUE_VNNI)
    return _mm_dpbusd_epi32(sum, inputs, weights);
#else
    return _mm_add_epi32(sum, _mm_madd_epi16(_mm_maddubs_epi16(inputs, weights), _mm_set1_epi16(1)));
#endif
}

#if NNUE_BYTES >= 32
static inline __m256i nnue_dot8(__m256i sum, __m256i inputs, __m256i weights)
{
#if defined(NNUE_VNNI)
    return _mm256_dpbusd_epi32(sum, inputs, weights);
#else
    __m256i pairs = _mm256_maddubs_epi16(inputs, weights);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}
#endif

static inline NnueVector nnue_dot(NnueVector sum, NnueVector inputs, NnueVector weights)
{
#if defined(NNUE_VNNI)
    return _mm512_dpbusd_epi32(sum, inputs, weights);
#elif NNUE_BYTES == 64
    NnueVector pairs = _mm512_maddubs_epi16(inputs, weights);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#elif NNUE_BYTES == 32
    return nnue_dot8(sum, inputs, weights);
#else
    return nnue_dot4(sum, inputs, weights);
#endif
}

static inline int32_t nnue_sum4(__m128i words)
{
    words = _mm_add_epi32(words, _mm_shuffle_epi32(words, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(words, _mm_shuffle_epi32(words, 0xB1)));
}
#endif
#endif
