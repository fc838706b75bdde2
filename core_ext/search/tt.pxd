"""The transposition table: what a search found out about a position, shared by all threads.

Entry, 16 bytes, two words:
    check   the position's full key XOR the data word
    data    bits 0-15 move, 16-31 value, 32-47 static value, 48-55 depth + 8, 56-57 bound, 58 on a principal variation,
            59-63 generation
Threads write without locks. A torn entry (one thread's check word beside another's data) no longer gives the key back
and is not found: R. Hyatt and T. Mann, "A lock-less transposition table implementation for parallel search", 2002.
Four entries fill a cache line, a bucket.
"""

from core_ext.shogi.bitboard cimport prefetch
from core_ext.shogi.types cimport MATE_BOUND, Move, int16_t, uint64_t

cdef enum:
    BOUND_NONE = 0
    BOUND_UPPER = 1
    BOUND_LOWER = 2
    BOUND_EXACT = 3
    BUCKET = 4
    GENERATIONS = 32
    DEPTH_OFFSET = 8

cdef struct Entry:
    uint64_t check
    uint64_t data

cdef struct Table:
    Entry *entries
    uint64_t buckets
    void *block
    int generation

# What a probe found; all zero where it found nothing.
cdef struct Found:
    bint hit
    Move move
    int value
    int static_value
    int depth
    int bound
    bint on_pv

cdef int allocate_table(Table *table, int megabytes) except -1
cdef void free_table(Table *table) noexcept nogil
cdef void clear_table(Table *table) noexcept nogil
cdef void age_table(Table *table) noexcept nogil
cdef int table_fill(const Table *table) noexcept nogil
cdef void store(Table *table, uint64_t key, Move move, int value, int static_value, int depth, int bound,
                bint on_pv) noexcept nogil


cdef inline Entry *bucket_of(const Table *table, uint64_t key) noexcept nogil:
    return table.entries + ((key >> 32) * table.buckets >> 32) * BUCKET


cdef inline void prefetch_entry(const Table *table, uint64_t key) noexcept nogil:
    prefetch(bucket_of(table, key))


cdef inline void probe(const Table *table, uint64_t key, Found *found) noexcept nogil:
    cdef const Entry *entry = bucket_of(table, key)
    cdef uint64_t data
    cdef int i
    for i in range(BUCKET):
        data = entry[i].data
        if (entry[i].check ^ data) == key and data:
            found.hit = True
            found.move = <Move>(data & 0xFFFF)
            found.value = <int16_t>(data >> 16 & 0xFFFF)
            found.static_value = <int16_t>(data >> 32 & 0xFFFF)
            found.depth = <int>(data >> 48 & 0xFF) - DEPTH_OFFSET
            found.bound = data >> 56 & 3
            found.on_pv = (data >> 58 & 1) != 0
            return
    found.hit = False
    found.move = 0
    found.bound = BOUND_NONE
    found.on_pv = False


# A mate counts plies from the root in the search and from its own node in the table.
cdef inline int value_to_table(int value, int ply) noexcept nogil:
    return value + ply if value >= MATE_BOUND else value - ply if value <= -MATE_BOUND else value


cdef inline int value_from_table(int value, int ply) noexcept nogil:
    return value - ply if value >= MATE_BOUND else value + ply if value <= -MATE_BOUND else value
