/* Bit scan, popcount, prefetch, vector addition, comparison, maximum of a list: for gcc, clang and MSVC, and in portable C. */
#ifndef KOMADORI_SIMD_H
#define KOMADORI_SIMD_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif
#if !defined(CORE_EXT_PORTABLE) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>
#define KOMADORI_SSE2 1
#endif
#if !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#endif
#if !defined(CORE_EXT_PORTABLE) && (defined(__aarch64__) || defined(_M_ARM64))
#include <arm_neon.h>
#define KOMADORI_NEON 1
#endif

/* Return the index of the lowest set bit; the word is not zero. */
static inline int lowest_bit(uint64_t word)
{
#if defined(CORE_EXT_PORTABLE)
    static const unsigned char index[64] = {
        0, 1, 48, 2, 57, 49, 28, 3, 61, 58, 50, 42, 38, 29, 17, 4, 62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18,
        12, 5, 63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11, 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19,
        9, 13, 8, 7, 6};
    return index[((word & (0 - word)) * UINT64_C(0x03f79d71b4cb0a89)) >> 58];
#elif defined(_MSC_VER)
    unsigned long index;
    _BitScanForward64(&index, word);
    return (int)index;
#else
    return __builtin_ctzll(word);
#endif
}

static inline int count_bits(uint64_t word)
{
#if defined(__POPCNT__) && !defined(CORE_EXT_PORTABLE) && defined(_MSC_VER)
    return (int)__popcnt64(word);
#elif defined(KOMADORI_NEON)
    return vaddv_u8(vcnt_u8(vcreate_u8(word)));
#elif defined(__POPCNT__) && !defined(CORE_EXT_PORTABLE)
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)((word * UINT64_C(0x0101010101010101)) >> 56);
#endif
}

static inline void prefetch(const void *address)
{
#if defined(CORE_EXT_PORTABLE)
    (void)address;
#elif defined(_M_ARM64)
    __prefetch(address);
#elif defined(_MSC_VER)
    _mm_prefetch((const char *)address, _MM_HINT_T0);
#else
    __builtin_prefetch(address);
#endif
}

/* Tell the processor that this is a spin loop. */
static inline void relax(void)
{
#if defined(KOMADORI_SSE2)
    _mm_pause();
#elif defined(_M_ARM64)
    __yield();
#elif defined(KOMADORI_NEON)
    __asm__ volatile("yield");
#endif
}

/* out[i] = words[i] + addend for eight 16-bit words. */
static inline void store_sums(uint16_t *out, const uint16_t *words, int addend)
{
#if defined(KOMADORI_SSE2)
    __m128i sums = _mm_add_epi16(_mm_loadu_si128((const __m128i *)words), _mm_set1_epi16((short)addend));
    _mm_storeu_si128((__m128i *)out, sums);
#elif defined(KOMADORI_NEON)
    vst1q_u16(out, vaddq_u16(vld1q_u16(words), vdupq_n_u16((uint16_t)addend)));
#else
    int i;
    for (i = 0; i < 8; i++)
        out[i] = (uint16_t)(words[i] + addend);
#endif
}

#if defined(KOMADORI_NEON)
/* A bit for each of 64 bytes, in four vectors, that is not 0 but 255. */
static inline uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t low = vpaddq_u8(vandq_u8(a, places), vandq_u8(b, places));
    uint8x16_t all = vpaddq_u8(low, vpaddq_u8(vandq_u8(c, places), vandq_u8(d, places)));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
#define KOMADORI_EQUAL(at) vceqq_u8(vld1q_u8(a + (at)), vld1q_u8(b + (at)))
#endif

/* Set a bit for each of 88 bytes that differs: those of the first 64 bytes in bits[0], the others in bits[1]. */
static inline void find_differing(uint64_t *bits, const uint8_t *a, const uint8_t *b)
{
#if defined(KOMADORI_NEON)
    const uint8x16_t all = vdupq_n_u8(255);
    bits[0] = ~bits_of(KOMADORI_EQUAL(0), KOMADORI_EQUAL(16), KOMADORI_EQUAL(32), KOMADORI_EQUAL(48));
    bits[1] = ~bits_of(KOMADORI_EQUAL(64), vcombine_u8(vceq_u8(vld1_u8(a + 80), vld1_u8(b + 80)), vget_low_u8(all)), all, all);
#elif defined(KOMADORI_SSE2)
    int at;
    bits[0] = bits[1] = 0;
    for (at = 0; at < 88; at += 16) {
        const __m128i *from = (const __m128i *)(const void *)(a + at), *to = (const __m128i *)(const void *)(b + at);
        __m128i equal = at < 80 ? _mm_cmpeq_epi8(_mm_loadu_si128(from), _mm_loadu_si128(to))
                                : _mm_cmpeq_epi8(_mm_loadl_epi64(from), _mm_loadl_epi64(to));
        bits[at / 64] |= (uint64_t)(_mm_movemask_epi8(equal) ^ 0xFFFF) << at % 64;
    }
#else
    int at;
    bits[0] = bits[1] = 0;
    for (at = 0; at < 88; at++)
        bits[at / 64] |= (uint64_t)(a[at] != b[at]) << at % 64;
#endif
}

/* ---- maximum of a list ----
 * Return the index of the first of `count` > 0 pairs of 32-bit words whose first word is the greatest. */

static inline int portable_greatest(const int32_t *pairs, int count)
{
    int best = 0, i;
    for (i = 1; i < count; i++)
        if (pairs[2 * i] > pairs[2 * best])
            best = i;
    return best;
}

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX512F__)
#define KOMADORI_FIRST_WORDS 0x5555

static inline int greatest(const int32_t *pairs, int count)
{
    const __m512i least = _mm512_set1_epi32(INT32_MIN);
    const __mmask16 rest = (__mmask16)((1u << 2 * (count & 7)) - 1);
    const size_t whole = (size_t)count & ~(size_t)7;
    __m512i best = _mm512_mask_loadu_epi32(least, rest, pairs + 2 * whole), wanted;
    __mmask16 found;
    size_t at;
    for (at = 0; at < whole; at += 8)
        best = _mm512_max_epi32(best, _mm512_loadu_si512(pairs + 2 * at));
    wanted = _mm512_set1_epi32(_mm512_mask_reduce_max_epi32(KOMADORI_FIRST_WORDS, best));
    for (at = 0; at < whole; at += 8) {
        found = _mm512_mask_cmpeq_epi32_mask(KOMADORI_FIRST_WORDS, _mm512_loadu_si512(pairs + 2 * at), wanted);
        if (found)
            return (int)at + lowest_bit(found) / 2;
    }
    found = _mm512_mask_cmpeq_epi32_mask(KOMADORI_FIRST_WORDS & rest, _mm512_maskz_loadu_epi32(rest, pairs + 2 * at),
                                         wanted);
    return (int)at + lowest_bit(found) / 2;
}

#elif !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#define KOMADORI_PAIRS(at) _mm256_loadu_si256((const __m256i *)(const void *)(pairs + 2 * (at)))

static inline int greatest(const int32_t *pairs, int count)
{
    const size_t whole = (size_t)count & ~(size_t)3;
    __m256i best, wanted;
    __m128i half;
    int32_t most = pairs[2 * (count - 1)];
    size_t at;
    int found;
    for (at = whole; at < (size_t)count; at++)
        most = pairs[2 * at] > most ? pairs[2 * at] : most;
    best = _mm256_set1_epi32(most);
    for (at = 0; at < whole; at += 4)
        best = _mm256_max_epi32(best, KOMADORI_PAIRS(at));
    half = _mm_max_epi32(_mm256_castsi256_si128(best), _mm256_extracti128_si256(best, 1));
    half = _mm_max_epi32(half, _mm_unpackhi_epi64(half, half));     /* first words of the last two pairs */
    most = _mm_cvtsi128_si32(half);
    wanted = _mm256_set1_epi32(most);
    for (at = 0; at < whole; at += 4) {
        found = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(KOMADORI_PAIRS(at), wanted))) & 0x55;
        if (found)
            return (int)at + lowest_bit((uint64_t)found) / 2;
    }
    while (pairs[2 * at] != most)
        at++;
    return (int)at;
}

#elif defined(KOMADORI_NEON)
static inline int greatest(const int32_t *pairs, int count)
{
    const int whole = count & ~3;
    int32_t most = pairs[2 * (count - 1)];
    int32x4_t best = vdupq_n_s32(most);
    int at;
    for (at = 0; at < whole; at += 4)
        best = vmaxq_s32(best, vld2q_s32(pairs + 2 * at).val[0]);
    most = vmaxvq_s32(best);
    for (at = whole; at < count; at++)
        most = pairs[2 * at] > most ? pairs[2 * at] : most;
    best = vdupq_n_s32(most);
    for (at = 0; at < whole && !vmaxvq_u32(vceqq_s32(vld2q_s32(pairs + 2 * at).val[0], best));)
        at += 4;
    while (pairs[2 * at] != most)
        at++;
    return at;
}
#else
#define greatest portable_greatest
#endif
#endif
