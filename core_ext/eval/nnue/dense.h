/* Integer kernels of the dense layers.
 *
 * A layer keeps its weights as [inputs / 4][outputs][4], so that four inputs broadcast to every lane meet the weights of
 * one output in each. `inputs` is a multiple of 4; `outputs` is 8 or a multiple of 16. Inputs are 0 to 127, so that no
 * pair of products exceeds 16 bits. */
#ifndef KOMADORI_NNUE_DENSE_H
#define KOMADORI_NNUE_DENSE_H
#include "eval/nnue/activation.h"
#include "eval/nnue/vectors.h"

#define NNUE_SHIFT 6            /* sums are in 1/64 of an activation */
#define NNUE_SQUARE_SHIFT 19    /* and their squares in 1/2^19 */
#define NNUE_MOST_INPUTS 16384
#define NNUE_CHUNK 64           /* inputs skipped together if all their weights are 0 */
#define NNUE_BLOCK 32           /* outputs for which a chunk is skipped */
#define NNUE_USED_WORDS(inputs) (((inputs) / NNUE_CHUNK + 31) / 32)

/* ---- portable forms ---- */

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

/* Set a bit for each chunk of inputs that has weights other than 0, in NNUE_USED_WORDS(inputs) words for each block of
 * outputs; bits set before stay. If networks were joined side by side, the inputs of one have no weights for the units
 * of another. */
static inline void nnue_find_used(uint32_t *used, const int8_t *weights, int inputs, int outputs)
{
    int words = NNUE_USED_WORDS(inputs), k, i;
    for (k = 0; k < inputs; k += 4, weights += 4 * outputs)
        for (i = 0; i < 4 * outputs; i++)
            if (weights[i])
                used[i / (4 * NNUE_BLOCK) * words + k / NNUE_CHUNK / 32] |= 1u << k / NNUE_CHUNK % 32;
}

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

/* The product of `count` inputs, a multiple of 16, and as many weights. */
static inline int32_t portable_dot(const uint8_t *in, const int8_t *weights, int count)
{
    int32_t sum = 0;
    int i;
    for (i = 0; i < count; i++)
        sum += in[i] * weights[i];
    return sum;
}

/* ---- vector forms ---- */

#if NNUE_BYTES
#define NNUE_TILE 8             /* vectors held in registers at a time */
#if defined(NNUE_VNNI)
#define NNUE_CHAINS 4           /* independent sums for the same outputs: each product waits for the last */
#else
#define NNUE_CHAINS 1           /* only additions wait */
#endif

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

static inline int32_t nnue_dot_row(const uint8_t *in, const int8_t *weights, int count)
{
    __m128i sum = _mm_setzero_si128();
    int at = 0;
#if NNUE_BYTES == 64
    NnueVector wide = NNUE_ZERO();
    for (; at + 64 <= count; at += 64)
        wide = nnue_dot(wide, NNUE_LOAD(in + at), NNUE_LOAD(weights + at));
    sum = _mm_add_epi32(_mm_add_epi32(_mm512_castsi512_si128(wide), _mm512_extracti32x4_epi32(wide, 1)),
                        _mm_add_epi32(_mm512_extracti32x4_epi32(wide, 2), _mm512_extracti32x4_epi32(wide, 3)));
#elif NNUE_BYTES == 32
    NnueVector wide = NNUE_ZERO();
    for (; at + 32 <= count; at += 32)
        wide = nnue_dot(wide, NNUE_LOAD(in + at), NNUE_LOAD(weights + at));
    sum = _mm_add_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
#endif
    for (; at < count; at += 16)
        sum = nnue_dot4(sum, NNUE_LOAD4(in + at), NNUE_LOAD4(weights + at));
    return nnue_sum4(sum);
}

/* nnue_list_block: append the numbers of those of 16 groups of four inputs that are not all 0; the first group has the
 * number `first`. There must be room for 16. Returns how many. */
#if NNUE_BYTES == 64
static inline int nnue_list_block(uint16_t *groups, const uint8_t *in, int first)
{
    const NnueVector numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    NnueVector words = NNUE_LOAD(in);
    __mmask16 some = _mm512_test_epi32_mask(words, words);
    NnueVector listed = _mm512_maskz_compress_epi32(some, NNUE_ADD32(numbers, NNUE_SPREAD32(first)));
    NNUE_STORE8(groups, _mm512_cvtepi32_epi16(listed));
    return count_bits(some);
}
#else
/* A bit for each of eight groups of four inputs that are all 0. */
static inline unsigned nnue_zero_groups(const uint8_t *in)
{
#if NNUE_BYTES == 32
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(NNUE_LOAD(in), NNUE_ZERO())));
#else
    NnueVector low = _mm_cmpeq_epi32(NNUE_LOAD(in), NNUE_ZERO());
    NnueVector high = _mm_cmpeq_epi32(NNUE_LOAD(in + 16), NNUE_ZERO());
    return (unsigned)(_mm_movemask_ps(_mm_castsi128_ps(low)) | _mm_movemask_ps(_mm_castsi128_ps(high)) << 4);
#endif
}

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
        NNUE_STORE4(groups + count, places);
        count += count_bits(some);
    }
    return count;
}
#endif

/* List the groups of four inputs in the chunks used that are not all 0; return how many. After a wide transformer many
 * are 0. */
static inline int nnue_list_groups(uint16_t *groups, const uint8_t *in, const uint32_t *used, int words)
{
    int count = 0, word, at;
    for (word = 0; word < words; word++) {
        uint32_t chunks = used[word];
        for (; chunks; chunks &= chunks - 1) {
            at = NNUE_CHUNK * (32 * word + lowest_bit(chunks));
            count += nnue_list_block(groups + count, in + at, at / 4);
        }
    }
    return count;
}

static inline int32_t nnue_four(const uint8_t *in, size_t group)
{
    int32_t four;
    memcpy(&four, in + 4 * group, sizeof(four));
    return four;
}

/* Add what a group of four inputs contributes to `vectors` of outputs. */
static inline void nnue_add_group(NnueVector *sum, const uint8_t *in, const int8_t *weights, size_t group, int outputs,
                                  const int vectors)
{
    const NnueVector four = NNUE_SPREAD32(nnue_four(in, group));
    int i;
    for (i = 0; i < vectors; i++)
        sum[i] = nnue_dot(sum[i], four,
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

/* The same for a layer of eight outputs. */
static inline void nnue_affine_8(int32_t *out, const uint8_t *in, const uint16_t *groups, int count,
                                 const int8_t *weights, const int32_t *bias)
{
#if NNUE_BYTES >= 32
    __m256i sum[NNUE_CHAINS];
    int k = 0, chain;
    sum[0] = NNUE_LOAD8(bias);
    for (chain = 1; chain < NNUE_CHAINS; chain++)
        sum[chain] = _mm256_setzero_si256();
    for (; k + NNUE_CHAINS <= count; k += NNUE_CHAINS)
        for (chain = 0; chain < NNUE_CHAINS; chain++) {
            size_t group = (size_t)(groups ? groups[k + chain] : k + chain);
            sum[chain] = nnue_dot8(sum[chain], _mm256_set1_epi32(nnue_four(in, group)), NNUE_LOAD8(weights + 32 * group));
        }
    for (; k < count; k++) {
        size_t group = (size_t)(groups ? groups[k] : k);
        sum[0] = nnue_dot8(sum[0], _mm256_set1_epi32(nnue_four(in, group)), NNUE_LOAD8(weights + 32 * group));
    }
    for (chain = 1; chain < NNUE_CHAINS; chain++)
        sum[0] = _mm256_add_epi32(sum[0], sum[chain]);
    NNUE_STORE8(out, sum[0]);
#else
    nnue_affine_block(out, in, groups, count, 8, weights, bias, 8 / NNUE_LANES32);
#endif
}

/* Compute a layer. With `used`, as nnue_find_used found it, only groups that are not all 0 are multiplied, as in
 * Stockfish's sparse layer, and only those in the chunks used; `inputs` is then a multiple of NNUE_CHUNK. */
static inline void nnue_affine(int32_t *out, const uint8_t *in, int inputs, int outputs, const int8_t *weights,
                               const int32_t *bias, const uint32_t *used)
{
    uint16_t groups[NNUE_MOST_INPUTS / 4 + 16];
    const uint16_t *listed = used ? groups : NULL;
    int words = NNUE_USED_WORDS(inputs), count = inputs / 4, at;
    for (at = 0; at < outputs; at += NNUE_BLOCK) {
        if (used && (at == 0 || memcmp(used, used - words, (size_t)words * sizeof(*used))))
            count = nnue_list_groups(groups, in, used, words);
        if (outputs == 8)
            nnue_affine_8(out, in, listed, count, weights, bias);
        else if (at + NNUE_BLOCK <= outputs)
            nnue_affine_block(out + at, in, listed, count, outputs, weights + 4 * at, bias + at, 32 / NNUE_LANES32);
        else
            nnue_affine_block(out + at, in, listed, count, outputs, weights + 4 * at, bias + at, 16 / NNUE_LANES32);
        used = used ? used + words : NULL;
    }
}
#else
#define nnue_affine(out, in, inputs, outputs, weights, bias, used) \
    portable_affine(out, in, inputs, outputs, weights, bias)
#define nnue_dot_row portable_dot
#define nnue_hidden portable_hidden
#define nnue_squares portable_squares
#endif
#endif
