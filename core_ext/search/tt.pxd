"""The transposition table: search results by position, shared by all threads.

Entry, 16 bytes, two words:
    check   the position's full key XOR the data word
    data    bits 0-15 move, 16-31 value, 32-47 static value, 48-55 depth + 8, 56-57 bound, 58 on_pv, 59-63 generation
Threads read and write without locks, by relaxed atomics, which are plain moves on x86 and ARM. A torn entry (check word
of one thread, data of another) does not match its key and is not found: R. Hyatt and T. Mann, "A lock-less
transposition table implementation for parallel search", 2002.
A bucket is four entries, one cache line.
"""

from core_ext.base.atomic cimport SharedWord, load_word
from core_ext.shogi.bitboard cimport prefetch
from core_ext.shogi.types cimport Move, int16_t, is_loss, is_win, uint64_t

cdef enum:
    BOUND_NONE = 0
    BOUND_UPPER = 1
    BOUND_LOWER = 2
    BOUND_EXACT = 3
    BUCKET = 4
    GENERATIONS = 32
    DEPTH_OFFSET = 8        # added to a stored depth, so that it is not negative

cdef struct TTEntry:
    SharedWord check
    SharedWord data

cdef struct TranspositionTable:
    TTEntry *entries
    uint64_t buckets
    void *block
    int generation

# The fields of an entry. Without a hit: no move, no bound, not on_pv, a depth below that of any entry; both values are
# undefined.
cdef struct TTData:
    bint hit
    Move move
    int value
    int static_value
    int depth
    int bound
    bint on_pv

# Allocate an empty table. MemoryError.
cdef int tt_allocate(TranspositionTable *table, int megabytes) except -1
cdef void tt_free(TranspositionTable *table) noexcept nogil
# Clear part number `part`, from 0, of `parts` equal parts, so that threads can share the work.
cdef void tt_clear(TranspositionTable *table, int part, int parts) noexcept nogil
# Prefault a part of a new table, so that the first writes do not wait for memory.
cdef void tt_touch(TranspositionTable *table, int part, int parts) noexcept nogil
# Start a new generation: entries stored from now on are one search newer.
cdef void tt_new_search(TranspositionTable *table) noexcept nogil
# Permille of the entries written in this generation, counted over the first thousand.
cdef int tt_hashfull(const TranspositionTable *table) noexcept nogil
# Store a result. A result without a move keeps the entry's move; a result that is too shallow stores only its move.
# `value` comes from value_to_table, both values fit in 16 bits, `depth` is from -8 to 247.
cdef void tt_store(TranspositionTable *table, uint64_t key, Move move, int value, int static_value, int depth,
                   int bound, bint on_pv) noexcept nogil


cdef inline TTEntry *tt_bucket(const TranspositionTable *table, uint64_t key) noexcept nogil:
    """Return the bucket by the upper 32 bits of the key, enough for a table of 256 GB."""
    return table.entries + ((key >> 32) * table.buckets >> 32) * BUCKET


cdef inline void tt_prefetch(const TranspositionTable *table, uint64_t key) noexcept nogil:
    prefetch(tt_bucket(table, key))

cdef inline void tt_probe(const TranspositionTable *table, uint64_t key, TTData *data) noexcept nogil:
    cdef const TTEntry *entry = tt_bucket(table, key)
    cdef uint64_t word
    cdef int i
    for i in range(BUCKET):
        word = load_word(&entry[i].data)
        if (load_word(&entry[i].check) ^ word) == key and word:
            tt_unpack(word, data)
            return
    data.hit = False
    data.move = 0
    data.depth = -DEPTH_OFFSET
    data.bound = BOUND_NONE
    data.on_pv = False


cdef inline int stored_depth(uint64_t data) noexcept nogil:
    return <int>(data >> 48 & 0xFF) - DEPTH_OFFSET

cdef inline int stored_generation(uint64_t data) noexcept nogil:
    return <int>(data >> 59)

cdef inline void tt_unpack(uint64_t word, TTData *data) noexcept nogil:
    data.hit = True
    data.move = <Move>(word & 0xFFFF)
    data.value = <int16_t>(word >> 16 & 0xFFFF)
    data.static_value = <int16_t>(word >> 32 & 0xFFFF)
    data.depth = stored_depth(word)
    data.bound = word >> 56 & 3
    data.on_pv = (word >> 58 & 1) != 0


# Decisive values count plies from the root in the search, and from the position itself in the table.
cdef inline int value_to_table(int value, int ply) noexcept nogil:
    return value + ply if is_win(value) else value - ply if is_loss(value) else value

cdef inline int value_from_table(int value, int ply) noexcept nogil:
    return value - ply if is_win(value) else value + ply if is_loss(value) else value
