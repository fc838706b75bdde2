/* How one thread ends another's search: a flag and a deadline, written and read without a lock.
 * Each is an atomic word of its own. Loads are relaxed: a search has to read a new value soon, and nothing else that
 * it reads depends on the value. Stores are release stores, as in learn/rendezvous.h. */
#ifndef KOMADORI_STOP_H
#define KOMADORI_STOP_H
#include "base/monotonic.h"

#if !defined(_MSC_VER)
#include <stdatomic.h>
#endif

/* All zero: neither requested nor a deadline. One serves all threads of a search. */
typedef struct {
#if defined(_MSC_VER)
    volatile int requested;
    volatile long long deadline;    /* as monotonic_ns counts; 0: none. Aligned to 8 bytes, so x64 never tears it */
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
