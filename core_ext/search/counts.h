/* COUNTING: 1 in the count profile (CORE_EXT_PROFILE=count), where the search counts its cuts; else 0, and the compiler
 * drops the counting. */
#ifndef KOMADORI_COUNTS_H
#define KOMADORI_COUNTS_H
#ifdef CORE_EXT_COUNT
enum { COUNTING = 1 };
#else
enum { COUNTING = 0 };
#endif
#endif
