/* Instruction sets that the processor has and the operating system keeps for its threads. The module that includes this
 * file is compiled for the baseline processor. setup.py defines CORE_EXT_LEVELS: the levels of this build, the lowest
 * first, each as NAME=SET,SET, separated by spaces. */
#ifndef KOMADORI_PROCESSOR_H
#define KOMADORI_PROCESSOR_H
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *name;           /* as in the macros of gcc and clang */
    uint32_t leaf;
    uint32_t subleaf;
    int word;                   /* EAX to EDX */
    int bit;
    uint32_t saved;             /* parts of XCR0, the registers that a change of threads must keep */
} InstructionSet;

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
enum { EAX, EBX, ECX, EDX };
#define YMM 0x06u               /* the registers of SSE and AVX */
#define ZMM 0xE6u               /* and those of AVX-512 */
#define OSXSAVE 27              /* of ECX in leaf 1: the operating system has set XCR0 */

static const InstructionSet instruction_sets[] = {
    {"SSE3", 1, 0, ECX, 0, 0}, {"SSSE3", 1, 0, ECX, 9, 0}, {"SSE4_1", 1, 0, ECX, 19, 0}, {"SSE4_2", 1, 0, ECX, 20, 0},
    {"POPCNT", 1, 0, ECX, 23, 0}, {"MOVBE", 1, 0, ECX, 22, 0}, {"LZCNT", 0x80000001u, 0, ECX, 5, 0},
    {"BMI", 7, 0, EBX, 3, 0}, {"BMI2", 7, 0, EBX, 8, 0}, {"GFNI", 7, 0, ECX, 8, 0},
    {"AVX", 1, 0, ECX, 28, YMM}, {"FMA", 1, 0, ECX, 12, YMM}, {"F16C", 1, 0, ECX, 29, YMM}, {"AVX2", 7, 0, EBX, 5, YMM},
    {"AVXVNNI", 7, 1, EAX, 4, YMM}, {"AVXIFMA", 7, 1, EAX, 23, YMM},
    {"AVX512F", 7, 0, EBX, 16, ZMM}, {"AVX512DQ", 7, 0, EBX, 17, ZMM}, {"AVX512IFMA", 7, 0, EBX, 21, ZMM},
    {"AVX512CD", 7, 0, EBX, 28, ZMM}, {"AVX512BW", 7, 0, EBX, 30, ZMM}, {"AVX512VL", 7, 0, EBX, 31, ZMM},
    {"AVX512VBMI", 7, 0, ECX, 1, ZMM}, {"AVX512VBMI2", 7, 0, ECX, 6, ZMM}, {"AVX512VNNI", 7, 0, ECX, 11, ZMM},
    {"AVX512BITALG", 7, 0, ECX, 12, ZMM}, {"AVX512VPOPCNTDQ", 7, 0, ECX, 14, ZMM},
};

/* A leaf that the processor does not have is all zero. */
static void read_leaf(uint32_t *words, uint32_t leaf, uint32_t subleaf)
{
#if defined(_MSC_VER)
    int most[4];
    __cpuid(most, (int)(leaf & 0x80000000u));
    memset(words, 0, 4 * sizeof(*words));
    if ((uint32_t)most[0] >= leaf)
        __cpuidex((int *)words, (int)leaf, (int)subleaf);
#else
    if (!__get_cpuid_count(leaf, subleaf, words + EAX, words + EBX, words + ECX, words + EDX))
        memset(words, 0, 4 * sizeof(*words));
#endif
}

/* Return the low half of XCR0, or 0 if the operating system does not set it. */
static uint32_t saved_registers(void)
{
    uint32_t words[4];
    read_leaf(words, 1, 0);
    if (!(words[ECX] >> OSXSAVE & 1))
        return 0;
#if defined(_MSC_VER)
    return (uint32_t)_xgetbv(0);
#else
    __asm__ volatile("xgetbv" : "=a"(words[EAX]), "=d"(words[EDX]) : "c"(0));
    return words[EAX];
#endif
}

static int is_present(const InstructionSet *set)
{
    uint32_t words[4];
    read_leaf(words, set->leaf, set->subleaf);
    return words[set->word] >> set->bit & 1 && (saved_registers() & set->saved) == set->saved;
}

#else
static const InstructionSet instruction_sets[] = {{"DOTPROD", 0, 0, 0, 0, 0}};

#if defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#define HAS_DOTPROD (getauxval(AT_HWCAP) >> 20 & 1)     /* HWCAP_ASIMDDP */
#elif defined(_M_ARM64)
#include <windows.h>
#define HAS_DOTPROD IsProcessorFeaturePresent(43)       /* PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE */
#else
#define HAS_DOTPROD 1           /* every Mac with ARM */
#endif

static int is_present(const InstructionSet *set)
{
    (void)set;
    return HAS_DOTPROD;
}
#endif

/* Return whether the named set can be used; false for an unknown one. */
static int has_instructions(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof(instruction_sets) / sizeof(*instruction_sets); i++)
        if (!strcmp(instruction_sets[i].name, name))
            return is_present(instruction_sets + i);
    return 0;
}
#endif
