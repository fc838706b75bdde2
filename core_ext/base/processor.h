/* Check for the instruction sets that the other modules were compiled for. The module that includes
 * this file is compiled for the baseline processor; setup.py defines CORE_EXT_NEEDS_..., 1 for each set they use, else 0,
 * and the target CPU of the build, CORE_EXT_TARGET. */
#ifndef KOMADORI_PROCESSOR_H
#define KOMADORI_PROCESSOR_H
#include <stddef.h>

#define AS_TEXT(word) #word
#define EXPANDED_AS_TEXT(word) AS_TEXT(word)
#define CORE_EXT_TARGET_NAME EXPANDED_AS_TEXT(CORE_EXT_TARGET)

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define LACKS(feature) (!__builtin_cpu_supports(feature))
#elif defined(_M_X64)
#include <intrin.h>
#include <string.h>
/* MSVC builds use only the levels v2 and v3: leaf 1 has SSE4.2 and POPCNT, leaf 7 has AVX2 and BMI2. */
static int lacks_leaf(const char *feature)
{
    int one[4], seven[4];
    __cpuid(one, 1);
    __cpuidex(seven, 7, 0);
    if (!strcmp(feature, "popcnt")) return !(one[2] >> 23 & 1);
    if (!strcmp(feature, "sse4.2")) return !(one[2] >> 20 & 1);
    if (!strcmp(feature, "avx2")) return !(seven[1] >> 5 & 1);
    if (!strcmp(feature, "bmi2")) return !(seven[1] >> 8 & 1);
    return 0;
}
#define LACKS(feature) lacks_leaf(feature)
#else
#define LACKS(feature) 0
#endif

/* Return the name of the first missing instruction set, or NULL. */
static const char *missing_instructions(void)
{
    if (CORE_EXT_NEEDS_POPCNT && LACKS("popcnt")) return "POPCNT";
    if (CORE_EXT_NEEDS_SSE4_2 && LACKS("sse4.2")) return "SSE4.2";
    if (CORE_EXT_NEEDS_AVX && LACKS("avx")) return "AVX";
    if (CORE_EXT_NEEDS_AVX2 && LACKS("avx2")) return "AVX2";
    if (CORE_EXT_NEEDS_FMA && LACKS("fma")) return "FMA";
    if (CORE_EXT_NEEDS_BMI && LACKS("bmi")) return "BMI1";
    if (CORE_EXT_NEEDS_BMI2 && LACKS("bmi2")) return "BMI2";
    if (CORE_EXT_NEEDS_AVX512F && LACKS("avx512f")) return "AVX-512";
    if (CORE_EXT_NEEDS_AVX512VL && LACKS("avx512vl")) return "AVX-512VL";
    if (CORE_EXT_NEEDS_AVX512BW && LACKS("avx512bw")) return "AVX-512BW";
    if (CORE_EXT_NEEDS_AVX512VBMI && LACKS("avx512vbmi")) return "AVX-512VBMI";
    if (CORE_EXT_NEEDS_AVX512VNNI && LACKS("avx512vnni")) return "AVX-512VNNI";
    return NULL;
}
#endif
