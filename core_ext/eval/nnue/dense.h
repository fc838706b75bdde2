/* Integer kernels of the dense layers.
 *
 * A layer keeps its weights as [inputs / group][outputs][group]. Groups are of 4, so that four inputs broadcast to every
 * lane meet the weights of one output in each, or of 64 (nnue_group), so that each output has a vector of its own.
 * `inputs` is a multiple of the group; `outputs` is 8 or a multiple of 16. Inputs are 0 to 127, so that no pair of
 * products exceeds 16 bits. */
#ifndef KOMADORI_NNUE_DENSE_H
#define KOMADORI_NNUE_DENSE_H
#include "eval/nnue/vectors.h"

#define NNUE_MOST_INPUTS 16384
#define NNUE_CHUNK 64           /* inputs looked at together for groups that are not 0 */
#define NNUE_BLOCK 32           /* outputs computed together */

/* ---- portable forms ---- */

/* out = bias + weights x inputs. */
static inline void portable_affine(int32_t *out, const uint8_t *in, int inputs, int outputs, int group,
                                   const int8_t *weights, const int32_t *bias)
{
    int at, i, k;
    memcpy(out, bias, (size_t)outputs * sizeof(int32_t));
    for (at = 0; at < inputs; at += group)
        for (i = 0; i < outputs; i++, weights += group)
            for (k = 0; k < group; k++)
                out[i] = (int32_t)((uint32_t)out[i] + (uint32_t)(in[at + k] * weights[k]));
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

/* Return the group of layer 0. With eight outputs, multiplying all inputs takes less time than listing those that are
 * not 0. Compilers turn the portable loop over 64 into vector code. */
static inline int nnue_group(int inputs, int outputs)
{
    return (outputs == 8 || NNUE_BYTES == 0) && inputs % 64 == 0 ? 64 : 4;
}

#if NNUE_BYTES
#define NNUE_TILE 8             /* vectors held in registers at a time */
#if defined(NNUE_VNNI)
#define NNUE_CHAINS 4           /* independent sums for the same outputs: a product waits for its sum */
#else
#define NNUE_CHAINS 1           /* only additions wait */
#endif

static inline int32_t nnue_dot_row(const uint8_t *in, const int8_t *weights, int count)
{
    NnueVector wide = NNUE_ZERO();
    NnueFour sum;
    int at = 0;
    for (; at + NNUE_BYTES <= count; at += NNUE_BYTES)
        wide = nnue_dot(wide, NNUE_LOAD(in + at), NNUE_LOAD(weights + at));
    sum = nnue_fold(wide);
    for (; at < count; at += 16)
        sum = nnue_dot4(sum, NNUE_LOAD4(in + at), NNUE_LOAD4(weights + at));
    return nnue_sum4(sum);
}

/* nnue_list_block: append the numbers of those of 16 groups of four inputs that are not all 0; the first group has the
 * number `first`. There must be room for 16. Returns how many. */
#if NNUE_BYTES == 64
static inline int nnue_list_block(uint16_t *groups, const uint8_t *in, int first)
{
    NnueVector words = NNUE_LOAD(in);
    __mmask16 some = _mm512_test_epi32_mask(words, words);
#if defined(__AVX512VBMI2__)
    const __m256i numbers = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    NNUE_STORE8(groups, _mm256_maskz_compress_epi16(some, _mm256_add_epi16(numbers, _mm256_set1_epi16((short)first))));
#else
    const NnueVector numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    NnueVector listed = _mm512_maskz_compress_epi32(some, NNUE_ADD32(numbers, NNUE_SPREAD32(first)));
    NNUE_STORE8(groups, _mm512_cvtepi32_epi16(listed));
#endif
    return count_bits(some);
}
#else
/* A bit for each of eight groups of four inputs that are all 0. */
static inline unsigned nnue_zero_groups(const uint8_t *in)
{
#if defined(KOMADORI_NEON)
    static const uint16_t places[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    uint16x4_t low = vmovn_u32(vceqzq_s32(NNUE_LOAD(in))), high = vmovn_u32(vceqzq_s32(NNUE_LOAD(in + 16)));
    return vaddvq_u16(vandq_u16(vcombine_u16(low, high), vld1q_u16(places)));
#elif NNUE_BYTES == 32
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
        NNUE_STORE4(groups + count, NNUE_NUMBERS(nnue_places + some, first + at / 4));
        count += count_bits(some);
    }
    return count;
}
#endif

/* List the groups of four inputs that are not all 0; return how many. After a wide transformer many are 0. */
static inline int nnue_list_groups(uint16_t *groups, const uint8_t *in, int inputs)
{
    int count = 0, at;
    for (at = 0; at < inputs; at += NNUE_CHUNK)
        count += nnue_list_block(groups + count, in + at, at / 4);
    return count;
}

static inline int32_t nnue_four(const uint8_t *in, size_t group)
{
    int32_t four;
    memcpy(&four, in + 4 * group, sizeof(four));
    return four;
}

/* Add what a group of four inputs contributes to `vectors` of outputs. */
static inline void nnue_add_group(NnueVector *sum, int32_t four, const int8_t *weights, const int vectors)
{
    const NnueVector inputs = NNUE_SPREAD32(four);
    int i;
    for (i = 0; i < vectors; i++)
        sum[i] = nnue_dot(sum[i], inputs, NNUE_LOAD(weights + i * NNUE_BYTES));
}

/* Compute `vectors` vectors of outputs, a constant at each call, over the `count` groups that `groups` lists, or over
 * the first `count` if `listed`, a constant too, is 0. A group's weights take `row` bytes. */
static inline void nnue_affine_block(int32_t *out, const uint8_t *in, const uint16_t *groups, size_t count, size_t row,
                                     const int8_t *weights, const int32_t *bias, const int vectors, const int listed)
{
    const int chains = NNUE_TILE / vectors < NNUE_CHAINS ? NNUE_TILE / vectors : NNUE_CHAINS;
    NnueVector sum[NNUE_TILE];
    size_t k = 0, group;
    int chain, i;
    for (i = 0; i < vectors; i++)
        sum[i] = NNUE_LOAD(bias + i * NNUE_LANES32);
    for (i = vectors; i < vectors * chains; i++)
        sum[i] = NNUE_ZERO();
    for (; k + (size_t)chains <= count; k += (size_t)chains)
        for (chain = 0; chain < chains; chain++) {
            group = listed ? groups[k + (size_t)chain] : k + (size_t)chain;
            nnue_add_group(sum + chain * vectors, nnue_four(in, group), weights + group * row, vectors);
        }
    for (; k < count; k++) {
        group = listed ? groups[k] : k;
        nnue_add_group(sum, nnue_four(in, group), weights + group * row, vectors);
    }
    for (chain = 1; chain < chains; chain++)
        for (i = 0; i < vectors; i++)
            sum[i] = NNUE_ADD32(sum[i], sum[chain * vectors + i]);
    for (i = 0; i < vectors; i++)
        NNUE_STORE(out + i * NNUE_LANES32, sum[i]);
}

/* Sum the words of each of four vectors. */
static inline NnueFour nnue_sum_each(const NnueVector *sum)
{
    return NNUE_ADD_PAIRS4(NNUE_ADD_PAIRS4(nnue_fold(sum[0]), nnue_fold(sum[1])),
                           NNUE_ADD_PAIRS4(nnue_fold(sum[2]), nnue_fold(sum[3])));
}

/* Compute a layer of eight outputs in groups of 64 inputs. */
static inline void nnue_affine_rows(int32_t *out, const uint8_t *in, int inputs, const int8_t *weights,
                                    const int32_t *bias)
{
    NnueVector sum[8];
    int at, i;
    for (i = 0; i < 8; i++)
        sum[i] = NNUE_ZERO();
    for (; inputs > 0; inputs -= 64, in += 64, weights += 8 * 64)
        for (at = 0; at < 64; at += NNUE_BYTES)
            for (i = 0; i < 8; i++)
                sum[i] = nnue_dot(sum[i], NNUE_LOAD(in + at), NNUE_LOAD(weights + 64 * i + at));
    NNUE_STORE4(out, NNUE_ADD4(NNUE_LOAD4(bias), nnue_sum_each(sum)));
    NNUE_STORE4(out + 4, NNUE_ADD4(NNUE_LOAD4(bias + 4), nnue_sum_each(sum + 4)));
}

static inline void nnue_affine_blocks(int32_t *out, const uint8_t *in, const uint16_t *groups, size_t count,
                                      int outputs, const int8_t *weights, const int32_t *bias, const int listed)
{
    size_t row = 4 * (size_t)outputs;
    int at = 0;
    for (; at + NNUE_BLOCK <= outputs; at += NNUE_BLOCK)
        nnue_affine_block(out + at, in, groups, count, row, weights + 4 * at, bias + at, 32 / NNUE_LANES32, listed);
    if (at < outputs)
        nnue_affine_block(out + at, in, groups, count, row, weights + 4 * at, bias + at, 16 / NNUE_LANES32, listed);
}

static inline void nnue_affine_sparse(int32_t *out, const uint8_t *in, int inputs, int outputs, const int8_t *weights,
                                      const int32_t *bias)
{
    uint16_t groups[NNUE_MOST_INPUTS / 4 + 16];
    size_t count = (size_t)nnue_list_groups(groups, in, inputs);
    nnue_affine_blocks(out, in, groups, count, outputs, weights, bias, 1);
}

/* Compute a layer. If it is `sparse`, only groups of 4 that are not all 0 are multiplied, as in Stockfish's sparse
 * layer; `inputs` is then a multiple of NNUE_CHUNK. A layer of eight outputs has groups of 64. */
static inline void nnue_affine(int32_t *out, const uint8_t *in, int inputs, int outputs, int group,
                               const int8_t *weights, const int32_t *bias, int sparse)
{
    if (group == 64)
        nnue_affine_rows(out, in, inputs, weights, bias);
    else if (sparse)
        nnue_affine_sparse(out, in, inputs, outputs, weights, bias);
    else
        nnue_affine_blocks(out, in, NULL, (size_t)inputs / 4, outputs, weights, bias, 0);
}
#else
static inline void nnue_affine(int32_t *out, const uint8_t *in, int inputs, int outputs, int group,
                               const int8_t *weights, const int32_t *bias, int sparse)
{
    (void)sparse;
    portable_affine(out, in, inputs, outputs, group, weights, bias);
}
#define nnue_dot_row portable_dot
#endif
#endif
