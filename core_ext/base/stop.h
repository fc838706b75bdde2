/* A stop flag and a deadline, each an atomic word, so that one thread can end another's search without a lock.
 * Loads are relaxed: nothing else that a search reads depends on the value. Stores are release stores. */
#ifndef KOMADORI_STOP_H
#define KOMADORI_STOP_H
#include "base/monotonic.h"

#if !defined(_MSC_VER)
#include <stdatomic.h>
#endif

typedef struct {
#if defined(_MSC_VER)
    volatile int requested;
    volatile long long deadline;    /* aligned to 8 bytes, so x64 never tears it */
#else
    _Atomic int requested;
    _Atomic long long deadline;
#endif
} Stop;

#if defined(_MSC_VER)
#define KOMADORI_LOAD(word) (word)
#define KOMADORI_STORE(word, value) ((word) = (value))
#else
#define KOMADORI_LOAD(word) atomic_load_explicit(&(word), memory_order_relaxed)
#define KOMADORI_STORE(word, value) atomic_store_explicit(&(word), (value), memory_order_release)
#endif

static inline int stop_requested(const Stop *stop)
{
    return KOMADORI_LOAD(stop->requested);
}

static inline int past_deadline(const Stop *stop)
{
    long long deadline = KOMADORI_LOAD(stop->deadline);
    return deadline != 0 && monotonic_ns() >= deadline;
}

static inline void request_stop(Stop *stop)
{
    KOMADORI_STORE(stop->requested, 1);
}

static inline void set_deadline(Stop *stop, long long deadline)
{
    KOMADORI_STORE(stop->deadline, deadline);
}

static inline void clear_stop(Stop *stop)
{
    KOMADORI_STORE(stop->requested, 0);
    KOMADORI_STORE(stop->deadline, 0);
}
#endif
