/* Implementation of memory.pxd and memory.pyx. */
#ifndef KOMADORI_MEMORY_H
#define KOMADORI_MEMORY_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define KOMADORI_HUGE_PAGE ((size_t)2 << 20)
#define KOMADORI_SMALL_PAGE ((size_t)4 << 10)

static inline void *map_large(size_t bytes, void **block)
{
    uintptr_t start;
    *block = bytes <= SIZE_MAX - KOMADORI_HUGE_PAGE ? calloc(bytes + KOMADORI_HUGE_PAGE, 1) : NULL;
    if (*block == NULL)
        return NULL;
    start = ((uintptr_t)*block + KOMADORI_HUGE_PAGE - 1) & ~(uintptr_t)(KOMADORI_HUGE_PAGE - 1);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    (void)madvise((void *)start, bytes & ~(KOMADORI_HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return (void *)start;
}

static inline void touch_large(void *start, size_t bytes)
{
    volatile char *byte = (volatile char *)start;
    size_t at;
    for (at = 0; at < bytes; at += KOMADORI_SMALL_PAGE)
        byte[at] = 0;
}

/* Pages of zeros are only read: the system backs pages that were never written by one shared page. */
static inline void clear_large(void *start, size_t bytes)
{
    char *page = start, *end = page + bytes;
    for (; page < end; page += KOMADORI_SMALL_PAGE) {
        size_t size = (size_t)(end - page) < KOMADORI_SMALL_PAGE ? (size_t)(end - page) : KOMADORI_SMALL_PAGE;
        if (page[0] || memcmp(page, page + 1, size - 1))
            memset(page, 0, size);
    }
}

static inline void release_large(void *block)
{
    free(block);
}
#endif
