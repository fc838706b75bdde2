/* Monotonic time in nanoseconds, for deadlines within one process. */
#ifndef KOMADORI_MONOTONIC_H
#define KOMADORI_MONOTONIC_H
#include <stdint.h>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

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
#endif
