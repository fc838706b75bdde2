"""Memory, replacement and ageing of the transposition table."""

from libc.limits cimport INT_MAX
from libc.string cimport memset

from core_ext.base.atomic cimport load_word, store_word
from core_ext.base.memory cimport allocate_large, release_large, touch_large
from core_ext.shogi.types cimport Move, uint16_t, uint64_t


cdef int tt_allocate(TranspositionTable *table, int megabytes) except -1:
    cdef size_t size = <size_t>megabytes << 20
    table.entries = <TTEntry *>allocate_large(size, &table.block)
    if table.entries == NULL:
        raise MemoryError(f"no memory for a transposition table of {megabytes} MB")
    table.buckets = size // (BUCKET * sizeof(TTEntry))
    table.generation = 0
    return 0


cdef void tt_touch(TranspositionTable *table, int part, int parts) noexcept nogil:
    cdef uint64_t begin = table.buckets * part // parts, end = table.buckets * (part + 1) // parts
    touch_large(table.entries + begin * BUCKET, (end - begin) * BUCKET * sizeof(TTEntry))


cdef void tt_free(TranspositionTable *table) noexcept nogil:
    release_large(table.block)
    table.entries = NULL
    table.block = NULL


cdef void tt_clear(TranspositionTable *table, int part, int parts) noexcept nogil:
    cdef uint64_t begin = table.buckets * part // parts, end = table.buckets * (part + 1) // parts
    memset(table.entries + begin * BUCKET, 0, (end - begin) * BUCKET * sizeof(TTEntry))
    if part == 0:
        table.generation = 0


cdef void tt_new_search(TranspositionTable *table) noexcept nogil:
    table.generation = (table.generation + 1) & (GENERATIONS - 1)


cdef int tt_hashfull(const TranspositionTable *table) noexcept nogil:
    cdef uint64_t data
    cdef int i, written = 0
    for i in range(1000):
        data = load_word(&table.entries[i].data)
        written += data != 0 and stored_generation(data) == table.generation
    return written


# ---- replacement ----

cdef enum:
    AGE_PLIES = 8       # depth that an entry loses with each new generation
    DEEPER_PLIES = 4    # an entry deeper by this is kept, unless the new result is exact
    ON_PV_PLIES = 2     # and by this more if the new result is on the PV

cdef inline int replace_value(const TranspositionTable *table, uint64_t data) noexcept nogil:
    """Return depth minus age; the entry with the least value is replaced."""
    cdef int age = (table.generation - stored_generation(data)) & (GENERATIONS - 1)
    return stored_depth(data) - AGE_PLIES * age


cdef inline TTEntry *entry_to_replace(const TranspositionTable *table, uint64_t key) noexcept nogil:
    """Return the position's own or an empty entry, whichever comes first; else the one with the least replace_value."""
    cdef TTEntry *entry = tt_bucket(table, key)
    cdef TTEntry *chosen = entry
    cdef uint64_t data
    cdef int i, value, least = INT_MAX
    for i in range(BUCKET):
        data = load_word(&entry[i].data)
        if not data or (load_word(&entry[i].check) ^ data) == key:
            return entry + i
        value = replace_value(table, data)
        if value < least:
            least = value
            chosen = entry + i
    return chosen


cdef inline bint is_deeper(const TranspositionTable *table, uint64_t data, int depth, int bound,
                           bint on_pv) noexcept nogil:
    """Return whether the entry is from this search and so much deeper that a bound does not replace it."""
    return (bound != BOUND_EXACT and stored_depth(data) >= depth + DEEPER_PLIES + ON_PV_PLIES * on_pv
            and stored_generation(data) == table.generation)


cdef void tt_store(TranspositionTable *table, uint64_t key, Move move, int value, int static_value, int depth,
                   int bound, bint on_pv) noexcept nogil:
    cdef TTEntry *entry = entry_to_replace(table, key)
    cdef uint64_t data = load_word(&entry.data)
    cdef bint known = (load_word(&entry.check) ^ data) == key and data != 0
    if known and not move:
        move = <Move>(data & 0xFFFF)
    if known and is_deeper(table, data, depth, bound, on_pv):
        data = data & ~<uint64_t>0xFFFF | move
    else:
        data = (<uint64_t>move | <uint64_t><uint16_t>value << 16 | <uint64_t><uint16_t>static_value << 32
                | <uint64_t>(depth + DEPTH_OFFSET) << 48 | <uint64_t>bound << 56 | <uint64_t>on_pv << 58
                | <uint64_t>table.generation << 59)
    store_word(&entry.check, key ^ data)
    store_word(&entry.data, data)
