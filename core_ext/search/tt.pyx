"""Storing, ageing and measuring the transposition table of tt.pxd."""

from libc.string cimport memset

from core_ext.base.memory cimport allocate_large, release_large
from core_ext.shogi.types cimport Move, uint16_t, uint64_t


cdef int allocate_table(Table *table, int megabytes) except -1:
    """An empty table of so many megabytes; MemoryError where there is no room."""
    cdef size_t size = <size_t>megabytes << 20
    table.entries = <Entry *>allocate_large(size, &table.block)
    if table.entries == NULL:
        raise MemoryError(f"no memory for a transposition table of {megabytes} MB")
    table.buckets = size // (BUCKET * sizeof(Entry))
    table.generation = 0
    return 0


cdef void free_table(Table *table) noexcept nogil:
    release_large(table.block)
    table.entries = NULL
    table.block = NULL


cdef void clear_table(Table *table) noexcept nogil:
    memset(table.entries, 0, table.buckets * BUCKET * sizeof(Entry))
    table.generation = 0


cdef void age_table(Table *table) noexcept nogil:
    """What is stored from now on is one search newer."""
    table.generation = (table.generation + 1) & (GENERATIONS - 1)


cdef int table_fill(const Table *table) noexcept nogil:
    """Permille of entries written in this search, from a sample of the first thousand."""
    cdef int i, written = 0
    for i in range(1000):
        if table.entries[i].data and <int>(table.entries[i].data >> 59) == table.generation:
            written += 1
    return written


cdef inline int worth(const Table *table, uint64_t data) noexcept nogil:
    """Deep and recent entries are worth keeping: a search of age costs eight plies of depth."""
    cdef int age = (table.generation - <int>(data >> 59)) & (GENERATIONS - 1)
    return <int>(data >> 48 & 0xFF) - 8 * age


cdef void store(Table *table, uint64_t key, Move move, int value, int static_value, int depth, int bound,
                bint on_pv) noexcept nogil:
    """Keep a result; `value` has been through value_to_table. The same position, else the least worthy entry, makes
    room.
    """
    cdef Entry *entry = bucket_of(table, key)
    cdef Entry *chosen = entry
    cdef uint64_t data
    cdef int i
    for i in range(BUCKET):
        data = entry[i].data
        if not data or (entry[i].check ^ data) == key:
            chosen = entry + i
            break
        if worth(table, data) < worth(table, chosen.data):
            chosen = entry + i
    data = chosen.data
    if (chosen.check ^ data) == key and data:
        if not move:
            move = <Move>(data & 0xFFFF)
        # A shallower bound of this search does not push out a deeper one.
        if bound != BOUND_EXACT and depth + DEPTH_OFFSET + 4 < <int>(data >> 48 & 0xFF) \
                and <int>(data >> 59) == table.generation:
            return
    data = (<uint64_t>move | <uint64_t><uint16_t>value << 16 | <uint64_t><uint16_t>static_value << 32
            | <uint64_t>(depth + DEPTH_OFFSET) << 48 | <uint64_t>bound << 56 | <uint64_t>on_pv << 58
            | <uint64_t>table.generation << 59)
    chosen.check = key ^ data
    chosen.data = data
