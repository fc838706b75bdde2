/* Integer kernels of the network: rows added to an accumulator, activations, dense layers.
 *
 * Each kernel has a portable form, always compiled, and a vector form for AVX-512 (with VNNI if there is), AVX2 or
 * SSE4.1, chosen at compile time; both give the same bits. Sums wrap at 16 and 32 bits in every form.
 *
 * Layouts: a row of the transformer is `width` int16, a multiple of 32. A dense layer keeps its weights as
 * [inputs / 4][outputs][4], so that four inputs broadcast to every lane meet the weights of one output in each;
 * `outputs` is a multiple of 16, `inputs` of 16. */
#ifndef KOMADORI_NNUE_LAYERS_H
#define KOMADORI_NNUE_LAYERS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

#define NNUE_ACTIVE 127         /* an activation's largest value */
#define NNUE_SHIFT 6            /* dense sums are in 1/64 */
#define NNUE_WIDE 256           /* a dense layer with at least as many inputs skips zero inputs */
#define NNUE_MOST_INPUTS 2048   /* more inputs are never skipped */
#define NNUE_CHUNK 64           /* inputs skipped together if all their weights are 0 */
#define NNUE_BLOCK 32           /* outputs for which a chunk is skipped */

/* ---- vectors ---- */

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX512F__) && defined(__AVX512BW__)
#include <immintrin.h>
#if defined(__AVX512VNNI__)
#define NNUE_INSTRUCTIONS "AVX-512 VNNI"
#define NNUE_CHAINS 4           /* VNNI accumulates in the product instruction, so each waits for the last */
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

static inline NnueVector nnue_dot(NnueVector sum, NnueVector inputs, NnueVector weights)
{
#if defined(__AVX512VNNI__)
    return _mm512_dpbusd_epi32(sum, inputs, weights);
#else
    NnueVector pairs = _mm512_maddubs_epi16(inputs, weights);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#endif
}

/* Append the numbers of those of 16 groups of four inputs that are not all 0; the first group has the number `first`.
 * There must be room for 16. Returns how many. */
static inline int nnue_list_block(uint16_t *groups, const uint8_t *in, int first)
{
    const NnueVector numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    NnueVector words = NNUE_LOAD(in);
    __mmask16 some = _mm512_test_epi32_mask(words, words);
    NnueVector listed = _mm512_maskz_compress_epi32(some, NNUE_ADD32(numbers, NNUE_SPREAD32(first)));
    _mm256_storeu_si256((__m256i *)(void *)groups, _mm512_cvtepi32_epi16(listed));
    return count_bits(some);
}

/* 32 sums to 32 activations. */
static inline void nnue_activate_block(uint8_t *out, const int16_t *sums)
{
    NnueVector clipped = _mm512_max_epi16(NNUE_LOAD(sums), NNUE_ZERO());
    clipped = _mm512_min_epi16(clipped, _mm512_set1_epi16(NNUE_ACTIVE));
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi16_epi8(clipped));
}

/* 16 sums of a hidden layer to activations. */
static inline void nnue_hidden_block(uint8_t *out, const int32_t *sums)
{
    NnueVector clipped = _mm512_max_epi32(_mm512_srai_epi32(NNUE_LOAD(sums), NNUE_SHIFT), NNUE_ZERO());
    clipped = _mm512_min_epi32(clipped, _mm512_set1_epi32(NNUE_ACTIVE));
    _mm_storeu_si128((__m128i *)(void *)out, _mm512_cvtepi32_epi8(clipped));
}

#elif !defined(CORE_EXT_PORTABLE) && defined(__AVX2__)
#include <immintrin.h>
#define NNUE_INSTRUCTIONS "AVX2"
#define NNUE_BYTES 32
typedef __m256i NnueVector;
#define NNUE_LOAD(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define NNUE_STORE(to, vector) _mm256_storeu_si256((__m256i *)(void *)(to), vector)
#define NNUE_ADD16 _mm256_add_epi16
#define NNUE_SUB16 _mm256_sub_epi16
#define NNUE_ADD32 _mm256_add_epi32
#define NNUE_SPREAD32 _mm256_set1_epi32
#define NNUE_ZERO _mm256_setzero_si256

static inline NnueVector nnue_dot(NnueVector sum, NnueVector inputs, NnueVector weights)
{
    NnueVector pairs = _mm256_maddubs_epi16(inputs, weights);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* A bit for each of eight groups of four inputs that are all 0. */
static inline unsigned nnue_zero_groups(const uint8_t *in)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(NNUE_LOAD(in), NNUE_ZERO())));
}

static inline void nnue_activate_block(uint8_t *out, const int16_t *sums)
{
    NnueVector packed = _mm256_packs_epi16(NNUE_LOAD(sums), NNUE_LOAD(sums + 16));
    packed = _mm256_permute4x64_epi64(packed, 0xD8);    /* packing interleaves the halves */
    NNUE_STORE(out, _mm256_max_epi8(packed, NNUE_ZERO()));
}

static inline void nnue_hidden_block(uint8_t *out, const int32_t *sums)
{
    NnueVector low = _mm256_srai_epi32(NNUE_LOAD(sums), NNUE_SHIFT);
    NnueVector packed = _mm256_packs_epi32(low, _mm256_srai_epi32(NNUE_LOAD(sums + 8), NNUE_SHIFT));
    __m128i bytes;
    packed = _mm256_permute4x64_epi64(packed, 0xD8);
    bytes = _mm_packs_epi16(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_max_epi8(bytes, _mm_setzero_si128()));
}

#elif !defined(CORE_EXT_PORTABLE) && (defined(__SSE4_1__) || (defined(_M_X64) && CORE_EXT_LEVEL >= 2))
#include <smmintrin.h>
#include <tmmintrin.h>
#define NNUE_INSTRUCTIONS "SSE4.1"
#define NNUE_BYTES 16
typedef __m128i NnueVector;
#define NNUE_LOAD(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define NNUE_STORE(to, vector) _mm_storeu_si128((__m128i *)(void *)(to), vector)
#define NNUE_ADD16 _mm_add_epi16
#define NNUE_SUB16 _mm_sub_epi16
#define NNUE_ADD32 _mm_add_epi32
#define NNUE_SPREAD32 _mm_set1_epi32
#define NNUE_ZERO _mm_setzero_si128

static inline NnueVector nnue_dot(NnueVector sum, NnueVector inputs, NnueVector weights)
{
    NnueVector pairs = _mm_maddubs_epi16(inputs, weights);
    return _mm_add_epi32(sum, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
}

static inline unsigned nnue_zero_groups(const uint8_t *in)
{
    NnueVector low = _mm_cmpeq_epi32(NNUE_LOAD(in), NNUE_ZERO());
    NnueVector high = _mm_cmpeq_epi32(NNUE_LOAD(in + 16), NNUE_ZERO());
    return (unsigned)(_mm_movemask_ps(_mm_castsi128_ps(low)) | _mm_movemask_ps(_mm_castsi128_ps(high)) << 4);
}

static inline void nnue_activate_block(uint8_t *out, const int16_t *sums)
{
    int half;
    for (half = 0; half < 32; half += 16) {
        NnueVector packed = _mm_packs_epi16(NNUE_LOAD(sums + half), NNUE_LOAD(sums + half + 8));
        NNUE_STORE(out + half, _mm_max_epi8(packed, NNUE_ZERO()));
    }
}

static inline void nnue_hidden_block(uint8_t *out, const int32_t *sums)
{
    NnueVector low, high;
    low = _mm_packs_epi32(_mm_srai_epi32(NNUE_LOAD(sums), NNUE_SHIFT), _mm_srai_epi32(NNUE_LOAD(sums + 4), NNUE_SHIFT));
    high = _mm_packs_epi32(_mm_srai_epi32(NNUE_LOAD(sums + 8), NNUE_SHIFT),
                           _mm_srai_epi32(NNUE_LOAD(sums + 12), NNUE_SHIFT));
    NNUE_STORE(out, _mm_max_epi8(_mm_packs_epi16(low, high), NNUE_ZERO()));
}

#else
#define NNUE_INSTRUCTIONS "portable"
#endif

/* ---- portable forms ---- */

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

/* Accumulated sums clipped to 0..127. */
static inline void portable_activate(uint8_t *out, const int16_t *sums, int width)
{
    int i;
    for (i = 0; i < width; i++)
        out[i] = (uint8_t)(sums[i] < 0 ? 0 : sums[i] > NNUE_ACTIVE ? NNUE_ACTIVE : sums[i]);
}

/* out = bias + weights x inputs. */
static inline void portable_affine(int32_t *out, const uint8_t *in, int inputs, int outputs, const int8_t *weights,
                                   const int32_t *bias)
{
    int group, i;
    memcpy(out, bias, (size_t)outputs * sizeof(int32_t));
    for (group = 0; group < inputs; group += 4) {
        for (i = 0; i < outputs; i++) {
            const int8_t *w = weights + 4 * i;
            int32_t sum = in[0] * w[0] + in[1] * w[1] + in[2] * w[2] + in[3] * w[3];
            out[i] = (int32_t)((uint32_t)out[i] + (uint32_t)sum);
        }
        in += 4;
        weights += 4 * outputs;
    }
}

/* Set a bit for each chunk of inputs that has weights other than 0, for each block of outputs. If networks were joined
 * side by side, the inputs of one have no weights for the units of another. */
static inline void nnue_find_used(uint32_t *used, const int8_t *weights, int inputs, int outputs)
{
    int k, i;
    memset(used, 0, (size_t)(outputs + NNUE_BLOCK - 1) / NNUE_BLOCK * sizeof(uint32_t));
    for (k = 0; k < inputs; k += 4, weights += 4 * outputs)
        for (i = 0; i < 4 * outputs; i++)
            if (weights[i])
                used[i / (4 * NNUE_BLOCK)] |= 1u << k / NNUE_CHUNK;
}

/* Sums of a hidden layer to activations: 1/64 of them, rounded down, clipped to 0..127. */
static inline void portable_hidden(uint8_t *out, const int32_t *sums, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        int32_t part = sums[i] >> NNUE_SHIFT;
        out[i] = (uint8_t)(part < 0 ? 0 : part > NNUE_ACTIVE ? NNUE_ACTIVE : part);
    }
}

/* The last layer, of one output: bias + weights x inputs; weights in the order of the inputs. */
static inline int32_t nnue_output(const uint8_t *in, int inputs, const int8_t *weights, int32_t bias)
{
    int32_t sum = 0;
    int i;
    for (i = 0; i < inputs; i++)
        sum += in[i] * weights[i];
    return (int32_t)((uint32_t)bias + (uint32_t)sum);
}

/* ---- vector forms ---- */

#if defined(NNUE_BYTES)
#define NNUE_LANES16 (NNUE_BYTES / 2)
#define NNUE_LANES32 (NNUE_BYTES / 4)
#define NNUE_TILE 8             /* vectors held in registers at a time */
#if !defined(NNUE_CHAINS)
#define NNUE_CHAINS 1           /* independent sums for the same outputs, at most: only additions wait */
#endif

/* Sum `vectors` vectors, a constant at each call. */
static inline void nnue_accumulate_tile(int16_t *out, const int16_t *in, int width, const int16_t *rows,
                                        const int32_t *removed, int removals, const int32_t *added, int additions,
                                        const int vectors)
{
    NnueVector sum[NNUE_TILE];
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

static inline void nnue_accumulate(int16_t *out, const int16_t *in, int width, const int16_t *rows,
                                   const int32_t *removed, int removals, const int32_t *added, int additions)
{
    int at = 0;
    for (; at + NNUE_TILE * NNUE_LANES16 <= width; at += NNUE_TILE * NNUE_LANES16)
        nnue_accumulate_tile(out + at, in + at, width, rows + at, removed, removals, added, additions, NNUE_TILE);
    for (; at < width; at += 32)
        nnue_accumulate_tile(out + at, in + at, width, rows + at, removed, removals, added, additions,
                             32 / NNUE_LANES16);
}

static inline void nnue_activate(uint8_t *out, const int16_t *sums, int width)
{
    int at;
    for (at = 0; at < width; at += 32)
        nnue_activate_block(out + at, sums + at);
}

static inline void nnue_hidden(uint8_t *out, const int32_t *sums, int count)
{
    int at;
    for (at = 0; at < count; at += 16)
        nnue_hidden_block(out + at, sums + at);
}

#if NNUE_BYTES < 64
/* The places of the bits of a byte, a byte each, the lowest first. */
#define NNUE_PLACE(byte, bit, behind) \
    ((uint64_t)(behind) << 8 * ((byte) >> (bit) & 1) | (uint64_t)((bit) * ((byte) >> (bit) & 1)))
#define NNUE_PLACES(byte) \
    NNUE_PLACE(byte, 0, NNUE_PLACE(byte, 1, NNUE_PLACE(byte, 2, NNUE_PLACE(byte, 3, \
    NNUE_PLACE(byte, 4, NNUE_PLACE(byte, 5, NNUE_PLACE(byte, 6, NNUE_PLACE(byte, 7, 0))))))))
#define NNUE_4_BYTES(byte) NNUE_PLACES(byte), NNUE_PLACES((byte) + 1), NNUE_PLACES((byte) + 2), NNUE_PLACES((byte) + 3)
#define NNUE_16_BYTES(byte) \
    NNUE_4_BYTES(byte), NNUE_4_BYTES((byte) + 4), NNUE_4_BYTES((byte) + 8), NNUE_4_BYTES((byte) + 12)
#define NNUE_64_BYTES(byte) \
    NNUE_16_BYTES(byte), NNUE_16_BYTES((byte) + 16), NNUE_16_BYTES((byte) + 32), NNUE_16_BYTES((byte) + 48)

static const uint64_t nnue_places[256] = {NNUE_64_BYTES(0), NNUE_64_BYTES(64), NNUE_64_BYTES(128), NNUE_64_BYTES(192)};

/* Eight at a time from a table, as in Stockfish: a loop over the bits is predicted badly. */
static inline int nnue_list_block(uint16_t *groups, const uint8_t *in, int first)
{
    int count = 0, at;
    for (at = 0; at < 64; at += 32) {
        unsigned some = nnue_zero_groups(in + at) ^ 0xFF;
        __m128i places = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)(nnue_places + some)));
        places = _mm_add_epi16(places, _mm_set1_epi16((short)(first + at / 4)));
        _mm_storeu_si128((__m128i *)(void *)(groups + count), places);
        count += count_bits(some);
    }
    return count;
}
#endif

/* List the groups of four inputs in the chunks used that are not all 0; return how many. After a wide first layer many
 * are 0. */
static inline int nnue_list_groups(uint16_t *groups, const uint8_t *in, uint32_t used)
{
    int count = 0, at;
    for (; used; used &= used - 1) {
        at = NNUE_CHUNK * lowest_bit(used);
        count += nnue_list_block(groups + count, in + at, at / 4);
    }
    return count;
}

/* Add what a group of four inputs contributes to `vectors` of outputs. */
static inline void nnue_add_group(NnueVector *sum, const uint8_t *in, const int8_t *weights, size_t group, int outputs,
                                  const int vectors)
{
    int32_t four;
    int i;
    memcpy(&four, in + 4 * group, sizeof(four));
    for (i = 0; i < vectors; i++)
        sum[i] = nnue_dot(sum[i], NNUE_SPREAD32(four),
                          NNUE_LOAD(weights + (group * (size_t)outputs + (size_t)i * NNUE_LANES32) * 4));
}

/* Compute `vectors` vectors of outputs, a constant at each call, over the `count` groups that `groups` lists, or over
 * the first `count` if it is NULL. */
static inline void nnue_affine_block(int32_t *out, const uint8_t *in, const uint16_t *groups, int count, int outputs,
                                     const int8_t *weights, const int32_t *bias, const int vectors)
{
    const int chains = NNUE_TILE / vectors < NNUE_CHAINS ? NNUE_TILE / vectors : NNUE_CHAINS;
    NnueVector sum[NNUE_TILE];
    int k = 0, chain, i;
    for (i = 0; i < vectors; i++)
        sum[i] = NNUE_LOAD(bias + i * NNUE_LANES32);
    for (i = vectors; i < vectors * chains; i++)
        sum[i] = NNUE_ZERO();
    for (; k + chains <= count; k += chains)
        for (chain = 0; chain < chains; chain++)
            nnue_add_group(sum + chain * vectors, in, weights, (size_t)(groups ? groups[k + chain] : k + chain),
                           outputs, vectors);
    for (; k < count; k++)
        nnue_add_group(sum, in, weights, (size_t)(groups ? groups[k] : k), outputs, vectors);
    for (chain = 1; chain < chains; chain++)
        for (i = 0; i < vectors; i++)
            sum[i] = NNUE_ADD32(sum[i], sum[chain * vectors + i]);
    for (i = 0; i < vectors; i++)
        NNUE_STORE(out + i * NNUE_LANES32, sum[i]);
}

/* Compute a dense layer. If it is wide, only groups that are not all 0 are multiplied, as in Stockfish's sparse layer,
 * and only those in chunks that nnue_find_used has found. */
static inline void nnue_affine(int32_t *out, const uint8_t *in, int inputs, int outputs, const int8_t *weights,
                               const int32_t *bias, const uint32_t *used)
{
    uint16_t groups[NNUE_MOST_INPUTS / 4 + 16];
    int wide = inputs >= NNUE_WIDE && inputs <= NNUE_MOST_INPUTS && inputs % NNUE_CHUNK == 0;
    int count = inputs / 4, at;
    for (at = 0; at < outputs; at += NNUE_BLOCK) {
        const uint32_t *chunks = used + at / NNUE_BLOCK;
        const uint16_t *listed;
        if (wide && (at == 0 || chunks[0] != chunks[-1]))
            count = nnue_list_groups(groups, in, *chunks);
        listed = wide ? groups : NULL;
        if (at + NNUE_BLOCK <= outputs)
            nnue_affine_block(out + at, in, listed, count, outputs, weights + 4 * at, bias + at, 32 / NNUE_LANES32);
        else
            nnue_affine_block(out + at, in, listed, count, outputs, weights + 4 * at, bias + at, 16 / NNUE_LANES32);
    }
}
#else
#define nnue_accumulate portable_accumulate
#define nnue_activate portable_activate
#define nnue_affine(out, in, inputs, outputs, weights, bias, used) \
    portable_affine(out, in, inputs, outputs, weights, bias)
#define nnue_hidden portable_hidden
#endif
#endif
