/* COUNTING is 1 in the count profile (CORE_EXT_PROFILE=count), in which the search counts its cutoffs. Otherwise it is 0
 * and the compiler removes the counting. */
#ifndef KOMADORI_COUNTS_H
#define KOMADORI_COUNTS_H
#ifdef CORE_EXT_COUNT
enum { COUNTING = 1 };
#else
enum { COUNTING = 0 };
#endif
#endif
