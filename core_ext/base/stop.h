/* A stop flag and a deadline, each an atomic word, so that one thread can end another's search without a lock.
 * Loads are relaxed: nothing else that a search reads depends on the value. Stores are release stores. */
#ifndef KOMADORI_STOP_H
#define KOMADORI_STOP_H
#include "base/atomic.h"
#include "base/monotonic.h"

typedef struct {
    KOMADORI_ATOMIC(int) requested;
    KOMADORI_ATOMIC(long long) deadline;
} Stop;

static inline int stop_requested(const Stop *stop)
{
    return KOMADORI_LOAD(stop->requested, relaxed);
}

static inline int past_deadline(const Stop *stop)
{
    long long deadline = KOMADORI_LOAD(stop->deadline, relaxed);
    return deadline != 0 && monotonic_ns() >= deadline;
}

static inline void request_stop(Stop *stop)
{
    KOMADORI_STORE(stop->requested, 1, release);
}

static inline void set_deadline(Stop *stop, long long deadline)
{
    KOMADORI_STORE(stop->deadline, deadline, release);
}

static inline void clear_stop(Stop *stop)
{
    KOMADORI_STORE(stop->requested, 0, release);
    KOMADORI_STORE(stop->deadline, 0, release);
}
#endif
