/* A spin lock for sections of less than a microsecond that threads rarely enter at the same time. */
#ifndef KOMADORI_LOCK_H
#define KOMADORI_LOCK_H
#include "base/atomic.h"
#include "base/simd.h"

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <sched.h>
#endif

#if defined(_MSC_VER)
#define KOMADORI_EXCHANGE_ACQUIRE(word, value) _InterlockedExchange(&(word), (value))
#else
#define KOMADORI_EXCHANGE_ACQUIRE(word, value) atomic_exchange_explicit(&(word), (value), memory_order_acquire)
#endif

/* Reads of a taken lock before a thread yields the processor: the owner may be waiting for one. */
enum { LOCK_SPINS = 256 };

/* All zero: free. */
typedef struct {
    KOMADORI_ATOMIC(long) taken;
} Lock;

static inline void yield_processor(void)
{
#if defined(_WIN32)
    SwitchToThread();
#else
    sched_yield();
#endif
}

static inline void acquire_lock(Lock *lock)
{
    int spins = 0;
    while (KOMADORI_EXCHANGE_ACQUIRE(lock->taken, 1))
        while (KOMADORI_LOAD(lock->taken, relaxed))
            if (++spins % LOCK_SPINS)
                relax();
            else
                yield_processor();
}

static inline void release_lock(Lock *lock)
{
    KOMADORI_STORE(lock->taken, 0, release);
}
#endif
