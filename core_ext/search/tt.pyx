"""Memory, replacement and ageing of the transposition table of tt.pxd."""

from libc.string cimport memset

from core_ext.base.memory cimport allocate_large, release_large
from core_ext.shogi.types cimport Move, uint16_t, uint64_t


cdef int tt_allocate(TranspositionTable *table, int megabytes) except -1:
    cdef size_t size = <size_t>megabytes << 20
    table.entries = <TTEntry *>allocate_large(size, &table.block)
    if table.entries == NULL:
        raise MemoryError(f"no memory for a transposition table of {megabytes} MB")
    table.buckets = size // (BUCKET * sizeof(TTEntry))
    table.generation = 0
    return 0


cdef void tt_free(TranspositionTable *table) noexcept nogil:
    release_large(table.block)
    table.entries = NULL
    table.block = NULL


cdef void tt_clear(TranspositionTable *table) noexcept nogil:
    memset(table.entries, 0, table.buckets * BUCKET * sizeof(TTEntry))
    table.generation = 0


cdef void tt_new_search(TranspositionTable *table) noexcept nogil:
    table.generation = (table.generation + 1) & (GENERATIONS - 1)


cdef int tt_hashfull(const TranspositionTable *table) noexcept nogil:
    cdef int i, written = 0
    for i in range(1000):
        if table.entries[i].data and <int>(table.entries[i].data >> 59) == table.generation:
            written += 1
    return written


# ---- replacement ----

cdef inline int replace_value(const TranspositionTable *table, uint64_t data) noexcept nogil:
    """The entry with the least is replaced: depth, less eight plies for each search of age."""
    cdef int age = (table.generation - <int>(data >> 59)) & (GENERATIONS - 1)
    return <int>(data >> 48 & 0xFF) - 8 * age


cdef inline TTEntry *entry_to_replace(const TranspositionTable *table, uint64_t key) noexcept nogil:
    """The position's own entry or an empty one, whichever comes first; else the one with the least replace_value."""
    cdef TTEntry *entry = tt_bucket(table, key)
    cdef TTEntry *chosen = entry
    cdef uint64_t data
    cdef int i
    for i in range(BUCKET):
        data = entry[i].data
        if not data or (entry[i].check ^ data) == key:
            return entry + i
        if replace_value(table, data) < replace_value(table, chosen.data):
            chosen = entry + i
    return chosen


cdef inline bint keeps_deeper(const TranspositionTable *table, uint64_t data, int depth, int bound) noexcept nogil:
    """A bound does not replace one of the same position and search that is more than four plies deeper."""
    return (bound != BOUND_EXACT and depth + DEPTH_OFFSET + 4 < <int>(data >> 48 & 0xFF)
            and <int>(data >> 59) == table.generation)


cdef void tt_store(TranspositionTable *table, uint64_t key, Move move, int value, int static_value, int depth,
                   int bound, bint on_pv) noexcept nogil:
    """A result without a move keeps the move that the position's entry has."""
    cdef TTEntry *entry = entry_to_replace(table, key)
    cdef uint64_t data = entry.data
    if (entry.check ^ data) == key and data:
        if not move:
            move = <Move>(data & 0xFFFF)
        if keeps_deeper(table, data, depth, bound):
            return
    data = (<uint64_t>move | <uint64_t><uint16_t>value << 16 | <uint64_t><uint16_t>static_value << 32
            | <uint64_t>(depth + DEPTH_OFFSET) << 48 | <uint64_t>bound << 56 | <uint64_t>on_pv << 58
            | <uint64_t>table.generation << 59)
    entry.check = key ^ data
    entry.data = data
