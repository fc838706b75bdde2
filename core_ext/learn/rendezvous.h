/* Two threads that meet at every position: each tells the other its part of a sum and waits for the other's. */
#ifndef KOMADORI_MEETING_H
#define KOMADORI_MEETING_H
#include <stdint.h>
#include <string.h>
#include "base/simd.h"

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <sched.h>
#endif
#if !defined(_MSC_VER)
#include <stdatomic.h>
#endif

/* Looks before a thread leaves the processor to others: the other one may be waiting for it. */
enum { LOOKS = 4096 };

/* The position's number and the part, in one word; each word in a pair of cache lines of its own. */
typedef struct {
#if defined(_MSC_VER)
    volatile uint64_t word;
#else
    _Atomic uint64_t word;
#endif
    char apart[120];
} Post;

/* Each thread's posts of even and of odd positions: the one before must stand until the other thread has read it. */
typedef struct {
    Post post[2][2];
} Meeting;

static inline void write_post(Post *post, uint64_t word)
{
#if defined(_MSC_VER)
    post->word = word;  /* on x86 the compiler neither delays it nor the hardware moves it before earlier writes */
#else
    atomic_store_explicit(&post->word, word, memory_order_release);
#endif
}

static inline uint64_t read_post(const Post *post)
{
#if defined(_MSC_VER)
    return post->word;
#else
    return atomic_load_explicit(&post->word, memory_order_acquire);
#endif
}

static inline void let_others_run(void)
{
#if defined(_WIN32)
    SwitchToThread();
#else
    sched_yield();
#endif
}

/* Numbers count up from 1 in a meeting of zeros. Returns the other's part. */
static inline float exchange(Meeting *meeting, int thread, uint32_t number, float part)
{
    const Post *other = &meeting->post[thread ^ 1][number & 1];
    uint32_t bits;
    uint64_t word;
    int looks = 0;
    memcpy(&bits, &part, sizeof bits);
    write_post(&meeting->post[thread][number & 1], (uint64_t)number << 32 | bits);
    while ((word = read_post(other)) >> 32 != number)
        if (++looks == LOOKS) {
            let_others_run();
            looks = 0;
        }
        else
            relax();
    bits = (uint32_t)word;
    memcpy(&part, &bits, sizeof part);
    return part;
}
#endif
