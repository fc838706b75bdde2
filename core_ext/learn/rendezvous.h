/* Rendezvous of two threads at every position: each publishes its shard of a sum and waits for the other's. */
#ifndef KOMADORI_RENDEZVOUS_H
#define KOMADORI_RENDEZVOUS_H
#include <stdint.h>
#include <string.h>
#include "base/atomic.h"
#include "base/lock.h"
#include "base/simd.h"

/* Spins before a thread yields the processor: the other one may be waiting for it. */
enum { SPINS = 4096 };

/* The position's number and the shard's sum in one word, in two cache lines of its own (no false sharing). */
typedef struct {
    KOMADORI_ATOMIC(uint64_t) word;
    char padding[120];
} Slot;

/* [thread][position & 1]: a slot must stay unchanged until the other thread has read it. */
typedef struct {
    Slot slot[2][2];
} Rendezvous;

static inline void publish(Slot *slot, uint64_t word)
{
    KOMADORI_STORE(slot->word, word, release);
}

static inline uint64_t read_slot(const Slot *slot)
{
    return KOMADORI_LOAD(slot->word, acquire);
}

/* `number` counts positions from 1; all slots start at zero. Returns the other thread's sum. */
static inline float exchange(Rendezvous *rendezvous, int thread, uint32_t number, float sum)
{
    const Slot *other = &rendezvous->slot[thread ^ 1][number & 1];
    uint32_t bits;
    uint64_t word;
    int spins = 0;
    memcpy(&bits, &sum, sizeof bits);
    publish(&rendezvous->slot[thread][number & 1], (uint64_t)number << 32 | bits);
    while ((word = read_slot(other)) >> 32 != number)
        if (++spins == SPINS) {
            yield_processor();
            spins = 0;
        }
        else
            relax();
    bits = (uint32_t)word;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}
#endif
