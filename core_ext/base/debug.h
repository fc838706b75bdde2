/* ASSERT(condition): abort if it is false in the debug profile, in which DEBUGGING is 1; no code otherwise. */
#ifndef KOMADORI_DEBUG_H
#define KOMADORI_DEBUG_H
#ifdef CORE_EXT_DEBUG
enum { DEBUGGING = 1 };
#include <stdio.h>
#include <stdlib.h>
#define ASSERT(condition) \
    do { if (!(condition)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); abort(); } } while (0)
#else
enum { DEBUGGING = 0 };
#define ASSERT(condition) ((void)0)
#endif
#endif
