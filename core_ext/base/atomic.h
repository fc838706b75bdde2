/* Words that several threads read and write without a lock. KOMADORI_ATOMIC(type) declares one of at most 8 bytes;
 * KOMADORI_LOAD and KOMADORI_STORE take the word itself and the name of the order: relaxed, acquire or release. */
#ifndef KOMADORI_ATOMIC_H
#define KOMADORI_ATOMIC_H
#include <stdint.h>

#if defined(_MSC_VER)
#include <intrin.h>
/* Aligned words are not torn. On x64 neither the compiler nor the hardware moves a volatile store before earlier writes,
 * nor a volatile load after later ones; on ARM64 both may. */
#define KOMADORI_ATOMIC(type) volatile type
#define KOMADORI_LOAD(word, order) KOMADORI_LOAD_##order(word)
#define KOMADORI_STORE(word, value, order) KOMADORI_STORE_##order(word, value)
#define KOMADORI_LOAD_relaxed(word) (word)
#define KOMADORI_STORE_relaxed(word, value) ((word) = (value))
#if defined(_M_ARM64)
#define KOMADORI_LOAD_acquire(word) __ldar64((volatile unsigned __int64 *)&(word))     /* words of 8 bytes only */
#define KOMADORI_STORE_release(word, value) \
    (sizeof(word) == 8 ? __stlr64((volatile unsigned __int64 *)&(word), (unsigned __int64)(value)) \
                       : __stlr32((volatile unsigned __int32 *)&(word), (unsigned __int32)(value)))
#else
#define KOMADORI_LOAD_acquire KOMADORI_LOAD_relaxed
#define KOMADORI_STORE_release KOMADORI_STORE_relaxed
#endif
#define KOMADORI_ADD(word, number) _InterlockedExchangeAdd64((volatile __int64 *)&(word), (__int64)(number))
#else
#include <stdatomic.h>
#define KOMADORI_ATOMIC(type) _Atomic type
#define KOMADORI_LOAD(word, order) atomic_load_explicit(&(word), memory_order_##order)
#define KOMADORI_STORE(word, value, order) atomic_store_explicit(&(word), value, memory_order_##order)
#define KOMADORI_ADD(word, number) atomic_fetch_add_explicit(&(word), number, memory_order_relaxed)
#endif

typedef struct {
    KOMADORI_ATOMIC(uint64_t) value;
} SharedWord;

static inline uint64_t load_word(const SharedWord *word)
{
    return KOMADORI_LOAD(word->value, relaxed);
}

static inline void store_word(SharedWord *word, uint64_t value)
{
    KOMADORI_STORE(word->value, value, relaxed);
}

static inline void add_to_word(SharedWord *word, uint64_t number)
{
    store_word(word, load_word(word) + number);
}

static inline void count_in_word(SharedWord *word, uint64_t number)
{
    KOMADORI_ADD(word->value, number);
}
#endif
