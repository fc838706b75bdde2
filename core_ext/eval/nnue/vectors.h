/* Vectors of the network's kernels, chosen at compile time: AVX-512 or AVX2 (with VNNI if there is), SSE4.1, NEON.
 *
 * Each kernel has a portable form, always compiled, and a vector form if NNUE_BYTES is not 0; both give the same bits.
 * The vector form is written once, with the operations below: on a vector of NNUE_BYTES, or, if the name ends in 4, on one
 * of four 32-bit words. Packing saturates and keeps the order. Sums wrap at 16 and 32 bits in every form. */
#ifndef KOMADORI_NNUE_VECTORS_H
#define KOMADORI_NNUE_VECTORS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

#define NNUE_PRODUCT_SHIFT 9    /* NNUE_PRODUCT: a * b / 2^9 for words a of 0 to 254 and b below 255 */

/* ---- four words ---- */

#if !defined(CORE_EXT_PORTABLE) && defined(__SSE4_1__)
#include <immintrin.h>
typedef __m128i NnueFour;
#define NNUE_LOAD4(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define NNUE_STORE4(to, vector) _mm_storeu_si128((__m128i *)(void *)(to), vector)
#define NNUE_LOW_HALF(to, vector) _mm_storel_epi64((__m128i *)(void *)(to), vector)
#define NNUE_HIGH_HALF(to, vector) NNUE_LOW_HALF(to, _mm_unpackhi_epi64(vector, vector))
#define NNUE_ZERO4 _mm_setzero_si128
#define NNUE_ADD4 _mm_add_epi32
#define NNUE_ADD_PAIRS4 _mm_hadd_epi32
#define NNUE_MAX8_4 _mm_max_epi8
#define NNUE_MAX16_4 _mm_max_epi16
#define NNUE_PACK16_4 _mm_packs_epi16
#define NNUE_PACK32_4 _mm_packs_epi32
#define NNUE_SHIFT16_4 _mm_srai_epi16
#define NNUE_SHIFT32_4 _mm_srai_epi32
#define NNUE_SQUARE_HIGH4(words) _mm_mulhi_epi16(words, words)  /* w * w / 2^16 */
#define NNUE_NUMBERS(bytes, first) /* eight bytes plus a number, as words */ \
    _mm_add_epi16(_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)(bytes))), _mm_set1_epi16((short)(first)))

/* Add to each sum the products of its four unsigned inputs, 0 to 127, and its four signed weights. */
static inline NnueFour nnue_dot4(NnueFour sum, NnueFour inputs, NnueFour weights)
{
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm_dpbusd_epi32(sum, inputs, weights);
#elif defined(__AVXVNNI__)
    return _mm_dpbusd_avx_epi32(sum, inputs, weights);
#else
    return _mm_add_epi32(sum, _mm_madd_epi16(_mm_maddubs_epi16(inputs, weights), _mm_set1_epi16(1)));
#endif
}

static inline int32_t nnue_sum4(NnueFour words)
{
    words = _mm_add_epi32(words, _mm_shuffle_epi32(words, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(words, _mm_shuffle_epi32(words, 0xB1)));
}

#elif defined(KOMADORI_NEON)
typedef int32x4_t NnueFour;
#define NNUE_16(vector) vreinterpretq_s16_s32(vector)
#define NNUE_8(vector) vreinterpretq_s8_s32(vector)
#define NNUE_FROM16(vector) vreinterpretq_s32_s16(vector)
#define NNUE_FROM8(vector) vreinterpretq_s32_s8(vector)
#define NNUE_LOAD4(from) NNUE_FROM8(vld1q_s8((const int8_t *)(from)))
#define NNUE_STORE4(to, vector) vst1q_s8((int8_t *)(to), NNUE_8(vector))
#define NNUE_LOW_HALF(to, vector) vst1_s8((int8_t *)(to), vget_low_s8(NNUE_8(vector)))
#define NNUE_HIGH_HALF(to, vector) vst1_s8((int8_t *)(to), vget_high_s8(NNUE_8(vector)))
#define NNUE_ZERO4() vdupq_n_s32(0)
#define NNUE_ADD4 vaddq_s32
#define NNUE_ADD_PAIRS4 vpaddq_s32
#define NNUE_MAX8_4(a, b) NNUE_FROM8(vmaxq_s8(NNUE_8(a), NNUE_8(b)))
#define NNUE_MAX16_4(a, b) NNUE_FROM16(vmaxq_s16(NNUE_16(a), NNUE_16(b)))
#define NNUE_PACK16_4(a, b) NNUE_FROM8(vqmovn_high_s16(vqmovn_s16(NNUE_16(a)), NNUE_16(b)))
#define NNUE_PACK32_4(a, b) NNUE_FROM16(vqmovn_high_s32(vqmovn_s32(a), b))
#define NNUE_SHIFT16_4(words, bits) NNUE_FROM16(vshrq_n_s16(NNUE_16(words), bits))
#define NNUE_SHIFT32_4 vshrq_n_s32
#define NNUE_SQUARE_HIGH4(words) NNUE_FROM16(vshrq_n_s16(vqdmulhq_s16(NNUE_16(words), NNUE_16(words)), 1))
#define NNUE_NUMBERS(bytes, first) \
    NNUE_FROM16(vaddq_s16(vreinterpretq_s16_u16(vmovl_u8(vld1_u8((const uint8_t *)(bytes)))), vdupq_n_s16((int16_t)(first))))
#define nnue_sum4 vaddvq_s32

static inline NnueFour nnue_dot4(NnueFour sum, NnueFour inputs, NnueFour weights)
{
#if defined(__ARM_FEATURE_DOTPROD)
    return vdotq_s32(sum, NNUE_8(inputs), NNUE_8(weights));
#else
    int16x8_t low = vmull_s8(vget_low_s8(NNUE_8(inputs)), vget_low_s8(NNUE_8(weights)));
    return vpadalq_s16(sum, vpaddq_s16(low, vmull_high_s8(NNUE_8(inputs), NNUE_8(weights))));
#endif
}
#endif

/* ---- the longest vectors ---- */

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
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
#define NNUE_ZERO _mm512_setzero_si512
#define NNUE_SPREAD16 _mm512_set1_epi16
#define NNUE_SPREAD32 _mm512_set1_epi32
#define NNUE_ADD16 _mm512_add_epi16
#define NNUE_SUB16 _mm512_sub_epi16
#define NNUE_ADD32 _mm512_add_epi32
#define NNUE_MIN16 _mm512_min_epi16
#define NNUE_MAX16 _mm512_max_epi16
#define NNUE_MAX8 _mm512_max_epi8
#define NNUE_PRODUCT(a, b) _mm512_mulhi_epi16(_mm512_slli_epi16(a, 16 - NNUE_PRODUCT_SHIFT), b)
#define NNUE_IN_ORDER(packed) _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed)
#define NNUE_PACK16(a, b) NNUE_IN_ORDER(_mm512_packs_epi16(a, b))
#define NNUE_PACKU16(a, b) NNUE_IN_ORDER(_mm512_packus_epi16(a, b))

#elif !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#if defined(__AVXVNNI__)
#define NNUE_INSTRUCTIONS "AVX2 VNNI"
#define NNUE_VNNI 1
#else
#define NNUE_INSTRUCTIONS "AVX2"
#endif
#define NNUE_BYTES 32
typedef __m256i NnueVector;
#define NNUE_LOAD(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define NNUE_STORE NNUE_STORE8
#define NNUE_ZERO _mm256_setzero_si256
#define NNUE_SPREAD16 _mm256_set1_epi16
#define NNUE_SPREAD32 _mm256_set1_epi32
#define NNUE_ADD16 _mm256_add_epi16
#define NNUE_SUB16 _mm256_sub_epi16
#define NNUE_ADD32 _mm256_add_epi32
#define NNUE_MIN16 _mm256_min_epi16
#define NNUE_MAX16 _mm256_max_epi16
#define NNUE_MAX8 _mm256_max_epi8
#define NNUE_PRODUCT(a, b) _mm256_mulhi_epi16(_mm256_slli_epi16(a, 16 - NNUE_PRODUCT_SHIFT), b)
#define NNUE_PACK16(a, b) _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8)
#define NNUE_PACKU16(a, b) _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xD8)

#elif !defined(CORE_EXT_PORTABLE) && defined(__SSE4_1__)
#define NNUE_INSTRUCTIONS "SSE4.1"
#define NNUE_BYTES 16
#define NNUE_SPREAD16 _mm_set1_epi16
#define NNUE_SPREAD32 _mm_set1_epi32
#define NNUE_ADD16 _mm_add_epi16
#define NNUE_SUB16 _mm_sub_epi16
#define NNUE_MIN16 _mm_min_epi16
#define NNUE_PRODUCT(a, b) _mm_mulhi_epi16(_mm_slli_epi16(a, 16 - NNUE_PRODUCT_SHIFT), b)
#define NNUE_PACKU16 _mm_packus_epi16

#elif defined(KOMADORI_NEON)
#if defined(__ARM_FEATURE_DOTPROD)
#define NNUE_INSTRUCTIONS "NEON DOTPROD"
#define NNUE_VNNI 1
#else
#define NNUE_INSTRUCTIONS "NEON"
#endif
#define NNUE_BYTES 16
#define NNUE_SPREAD16(word) NNUE_FROM16(vdupq_n_s16(word))
#define NNUE_SPREAD32 vdupq_n_s32
#define NNUE_ADD16(a, b) NNUE_FROM16(vaddq_s16(NNUE_16(a), NNUE_16(b)))
#define NNUE_SUB16(a, b) NNUE_FROM16(vsubq_s16(NNUE_16(a), NNUE_16(b)))
#define NNUE_MIN16(a, b) NNUE_FROM16(vminq_s16(NNUE_16(a), NNUE_16(b)))
#define NNUE_PRODUCT(a, b) /* the instruction doubles the product */ \
    NNUE_FROM16(vqdmulhq_s16(vshlq_n_s16(NNUE_16(a), 15 - NNUE_PRODUCT_SHIFT), NNUE_16(b)))
#define NNUE_PACKU16(a, b) \
    vreinterpretq_s32_u8(vqmovun_high_s16(vqmovun_s16(NNUE_16(a)), NNUE_16(b)))

#else
#define NNUE_INSTRUCTIONS "portable"
#define NNUE_BYTES 0
#endif

#define NNUE_LANES16 (NNUE_BYTES / 2)
#define NNUE_LANES32 (NNUE_BYTES / 4)

#if NNUE_BYTES == 16
typedef NnueFour NnueVector;
#define NNUE_LOAD NNUE_LOAD4
#define NNUE_STORE NNUE_STORE4
#define NNUE_ZERO NNUE_ZERO4
#define NNUE_ADD32 NNUE_ADD4
#define NNUE_MAX16 NNUE_MAX16_4
#define NNUE_MAX8 NNUE_MAX8_4
#define NNUE_PACK16 NNUE_PACK16_4
#define nnue_dot nnue_dot4
#define nnue_fold(vector) (vector)

#elif NNUE_BYTES
/* Eight words, with AVX-512 too. */
#define NNUE_STORE8(to, vector) _mm256_storeu_si256((__m256i *)(void *)(to), vector)

static inline NnueVector nnue_dot(NnueVector sum, NnueVector inputs, NnueVector weights)
{
#if NNUE_BYTES == 64 && defined(NNUE_VNNI)
    return _mm512_dpbusd_epi32(sum, inputs, weights);
#elif NNUE_BYTES == 64
    NnueVector pairs = _mm512_maddubs_epi16(inputs, weights);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#elif defined(NNUE_VNNI)
    return _mm256_dpbusd_avx_epi32(sum, inputs, weights);
#else
    NnueVector pairs = _mm256_maddubs_epi16(inputs, weights);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}

/* Return the sum of the vector's quarters or halves. */
static inline NnueFour nnue_fold(NnueVector vector)
{
#if NNUE_BYTES == 64
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(vector), _mm512_extracti64x4_epi64(vector, 1));
#else
    __m256i half = vector;
#endif
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
#endif
#endif
