/* Large zeroed blocks of memory, on huge pages if the system grants them. */
#ifndef KOMADORI_MEMORY_H
#define KOMADORI_MEMORY_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define KOMADORI_HUGE_PAGE ((size_t)2 << 20)

/* Returns memory aligned to a huge page, or NULL; *block gets the pointer for release_large. */
static inline void *allocate_large(size_t bytes, void **block)
{
    uintptr_t start;
    *block = calloc(bytes + KOMADORI_HUGE_PAGE, 1);
    if (*block == NULL)
        return NULL;
    start = ((uintptr_t)*block + KOMADORI_HUGE_PAGE - 1) & ~(uintptr_t)(KOMADORI_HUGE_PAGE - 1);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    (void)madvise((void *)start, bytes & ~(KOMADORI_HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return (void *)start;
}

static inline void release_large(void *block)
{
    free(block);
}
#endif
