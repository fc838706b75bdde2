/* Vectors of floats as wide as the target CPU has them: AVX-512, AVX2 with FMA, or one float if there is neither. */
#ifndef KOMADORI_LANES_H
#define KOMADORI_LANES_H
#include <math.h>

#if !defined(CORE_EXT_PORTABLE) && defined(__AVX512F__)
#include <immintrin.h>
#define LANES_NAME "AVX-512"
typedef __m512 Lanes;
enum { LANES = 16 };
#define load_lanes(from) _mm512_loadu_ps(from)
#define store_lanes(to, a) _mm512_storeu_ps(to, a)
#define all_lanes(value) _mm512_set1_ps(value)
#define add_lanes(a, b) _mm512_add_ps(a, b)
#define subtract_lanes(a, b) _mm512_sub_ps(a, b)
#define multiply_lanes(a, b) _mm512_mul_ps(a, b)
#define divide_lanes(a, b) _mm512_div_ps(a, b)
#define multiply_add_lanes(a, b, c) _mm512_fmadd_ps(a, b, c)
#define root_lanes(a) _mm512_sqrt_ps(a)
#define smaller_lanes(a, b) _mm512_min_ps(a, b)
#define larger_lanes(a, b) _mm512_max_ps(a, b)
#define nearest_lanes(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define floor_lanes(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
/* a if low < x < high, else 0. */
#define select_lanes(x, low, high, a) \
    _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, low, _CMP_GT_OQ) & _mm512_cmp_ps_mask(x, high, _CMP_LT_OQ), a)

#elif !defined(CORE_EXT_PORTABLE) && defined(__AVX2__) && (defined(__FMA__) || defined(_MSC_VER))
#include <immintrin.h>
#define LANES_NAME "AVX2"
typedef __m256 Lanes;
enum { LANES = 8 };
#define load_lanes(from) _mm256_loadu_ps(from)
#define store_lanes(to, a) _mm256_storeu_ps(to, a)
#define all_lanes(value) _mm256_set1_ps(value)
#define add_lanes(a, b) _mm256_add_ps(a, b)
#define subtract_lanes(a, b) _mm256_sub_ps(a, b)
#define multiply_lanes(a, b) _mm256_mul_ps(a, b)
#define divide_lanes(a, b) _mm256_div_ps(a, b)
#define multiply_add_lanes(a, b, c) _mm256_fmadd_ps(a, b, c)
#define root_lanes(a) _mm256_sqrt_ps(a)
#define smaller_lanes(a, b) _mm256_min_ps(a, b)
#define larger_lanes(a, b) _mm256_max_ps(a, b)
#define nearest_lanes(a) _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define floor_lanes(a) _mm256_round_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define select_lanes(x, low, high, a) \
    _mm256_and_ps(_mm256_and_ps(_mm256_cmp_ps(x, low, _CMP_GT_OQ), _mm256_cmp_ps(x, high, _CMP_LT_OQ)), a)

#else
#define LANES_NAME "portable"
typedef float Lanes;
enum { LANES = 1 };
#define load_lanes(from) (*(from))
#define store_lanes(to, a) (*(to) = (a))
#define all_lanes(value) ((float)(value))
#define add_lanes(a, b) ((a) + (b))
#define subtract_lanes(a, b) ((a) - (b))
#define multiply_lanes(a, b) ((a) * (b))
#define divide_lanes(a, b) ((a) / (b))
#define multiply_add_lanes(a, b, c) ((a) * (b) + (c))
#define root_lanes(a) sqrtf(a)
#define smaller_lanes(a, b) ((a) < (b) ? (a) : (b))
#define larger_lanes(a, b) ((a) > (b) ? (a) : (b))
#define nearest_lanes(a) rintf(a)
#define floor_lanes(a) floorf(a)
#define select_lanes(x, low, high, a) ((x) > (low) && (x) < (high) ? (a) : 0)
#endif
#endif
