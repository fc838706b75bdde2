/* A stop flag and a deadline, each an atomic word, so that one thread can end another's search without a lock.
 * Loads are relaxed: nothing else that a search reads depends on the value. Stores are release stores. */
#ifndef KOMADORI_STOP_H
#define KOMADORI_STOP_H
#include "base/atomic.h"

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

/* Monotonic time in nanoseconds, for deadlines within one process. */
static inline int64_t monotonic_ns(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    /* Two parts, because count * 10^9 overflows after a long uptime. */
    return count.QuadPart / frequency.QuadPart * 1000000000
        + count.QuadPart % frequency.QuadPart * 1000000000 / frequency.QuadPart;
}
#else
#include <time.h>

static inline int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif

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
