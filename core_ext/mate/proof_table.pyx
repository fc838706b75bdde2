"""Open addressing with linear probing in each partition; all entries of a key, with any hands, are in one cluster."""

from libc.string cimport memset

from core_ext.shogi.bitboard cimport prefetch
from core_ext.shogi.hand cimport hand_covers
from core_ext.base.atomic cimport add_to_word, load_word, store_word
from core_ext.base.lock cimport acquire_lock, release_lock
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.shogi.types cimport Hand, int16_t, uint32_t, uint64_t

cdef enum:
    RUN = 64                # adjacent entries of a partition, and its capacity at first
    SMALLEST_SHARE = 1024   # entries of a partition in a small table
    GROWTH = 4              # factor of an enlargement


cdef int proof_table_allocate(ProofTable *table, int megabytes) except -1:
    cdef uint64_t i, limit = (<uint64_t>megabytes << 20) // sizeof(ProofEntry)
    table.entries = <ProofEntry *>allocate_large(limit * sizeof(ProofEntry), &table.block)
    if table.entries == NULL:
        raise MemoryError(f"no memory for a mate table of {megabytes} MB")
    table.count = PARTITIONS
    while table.count * SMALLEST_SHARE > limit:
        table.count //= 2
    # home_slot uses 32 bits of the key, which cannot address more entries.
    table.share = min(limit // (table.count * RUN) * RUN, <uint64_t>1 << 32)
    for i in range(table.count):
        table.partitions[i].entries = table.entries + i * RUN
    return 0


cdef inline Partition *partition_of(ProofTable *table, uint64_t key) noexcept nogil:
    return table.partitions + (key & (table.count - 1))


cdef inline uint64_t home_slot(const Partition *part, uint64_t key) noexcept nogil:
    # Map the high half of the key to 0 .. capacity - 1 by a multiplication.
    return ((key >> 32) * load_word(&part.capacity)) >> 32


cdef inline uint64_t next_slot(const Partition *part, uint64_t slot) noexcept nogil:
    return slot + 1 if slot + 1 < load_word(&part.capacity) else 0


cdef inline ProofEntry *entry_at(const ProofTable *table, const Partition *part, uint64_t slot) noexcept nogil:
    """Return an entry. The runs of all partitions alternate: while few entries are in use, they are close together."""
    return part.entries + slot // RUN * (table.count * RUN) + slot % RUN


cdef inline int length_of(const ProofEntry *entry) noexcept nogil:
    return entry.length if entry.repetition_depth == PATH_INDEPENDENT else UNLIMITED


cdef inline bint disproves(const ProofEntry *entry, Hand hand, int remaining, uint64_t path_key) noexcept nogil:
    """Return whether the entry is a disproof for this hand and length, at least on this path."""
    if entry.dn == 0:
        return entry.length >= remaining and hand_covers(entry.hand, hand)
    return (entry.hand == hand and entry.repetition_depth != PATH_INDEPENDENT
            and entry.path == <uint32_t>path_key and entry.length == <int16_t>(path_key >> 32))


cdef void proof_table_prefetch(ProofTable *table, uint64_t key) noexcept nogil:
    cdef Partition *part = partition_of(table, key)
    prefetch(entry_at(table, part, home_slot(part, key)))


cdef bint proof_table_probe(ProofTable *table, uint64_t key, Hand hand, int remaining, uint64_t path_key,
                            PnResult *found) noexcept nogil:
    cdef Partition *part = partition_of(table, key)
    cdef bint known
    found.pn = found.dn = 1
    if table.shared:
        acquire_lock(&part.lock)
    known = load_word(&part.capacity) and find_result(table, part, key, hand, remaining, path_key, found)
    if table.shared:
        release_lock(&part.lock)
    return known


cdef bint find_result(const ProofTable *table, const Partition *part, uint64_t key, Hand hand, int remaining,
                      uint64_t path_key, PnResult *found) noexcept nogil:
    """Find the node's own entry, or one with another hand that solves it; of several proofs the shortest mate.
    So a stored mate never becomes longer than when its parent was proved, and a line of shortest mates ends.

    More pieces in hand never make pn larger or dn smaller, so unsolved entries with other hands bound the numbers.
    """
    cdef uint64_t slot = home_slot(part, key)
    cdef const ProofEntry *entry
    cdef bint known = False, proved = False
    cdef uint32_t least_pn = 1, least_dn = 1
    while True:
        entry = entry_at(table, part, slot)
        if entry.work == 0:
            break
        if entry.key == key:
            if entry.pn == 0:
                if (entry.length <= remaining and hand_covers(hand, entry.hand)
                        and (not proved or entry.length < found.length)):
                    found[0] = result_of(entry)
                    known = proved = True
            elif not proved and disproves(entry, hand, remaining, path_key):
                found[0] = PnResult(PROOF_INFINITE, 0, entry.hand, entry.length, entry.repetition_depth)
                if entry.dn:
                    found.length = <int16_t>remaining
                return True
            elif not proved and entry.dn and remaining > 1:
                if entry.hand == hand:
                    found[0] = PnResult(entry.pn, entry.dn, hand, <int16_t>remaining, PATH_INDEPENDENT)
                    known = True
                elif hand_covers(entry.hand, hand) and length_of(entry) >= remaining:
                    least_pn = max(least_pn, entry.pn)
                elif hand_covers(hand, entry.hand) and length_of(entry) <= remaining:
                    least_dn = max(least_dn, entry.dn)
        slot = next_slot(part, slot)
    if not proved:
        found.pn = max(found.pn, least_pn)
        found.dn = max(found.dn, least_dn)
    return known


cdef inline PnResult result_of(const ProofEntry *entry) noexcept nogil:
    return PnResult(entry.pn, entry.dn, entry.hand, entry.length, entry.repetition_depth)


cdef inline bint supersedes(const PnResult *result, Hand hand, const ProofEntry *entry) noexcept nogil:
    """Return whether the result of a node with this hand makes an entry of its key useless."""
    cdef bint shorter = result.length <= entry.length, longer = result.length >= entry.length
    cdef bint repetition = entry.repetition_depth != PATH_INDEPENDENT or result.repetition_depth != PATH_INDEPENDENT
    if entry.pn and entry.dn:
        return entry.hand == hand and (repetition or ((shorter or result.pn) and (longer or result.dn)))
    if result.repetition_depth != PATH_INDEPENDENT:
        return False
    if entry.pn:
        return result.dn == 0 and longer and hand_covers(result.hand, entry.hand)
    return result.pn == 0 and shorter and hand_covers(entry.hand, result.hand)


cdef ProofEntry *entry_for(const ProofTable *table, const Partition *part, uint64_t key, Hand hand,
                           const PnResult *result) noexcept nogil:
    """Return an entry that the result supersedes, or a free one."""
    cdef uint64_t slot = home_slot(part, key)
    cdef ProofEntry *entry
    while True:
        entry = entry_at(table, part, slot)
        if entry.work == 0:
            return entry
        if entry.key == key and supersedes(result, hand, entry):
            return entry
        slot = next_slot(part, slot)


cdef void proof_table_store(ProofTable *table, uint64_t key, Hand hand, uint64_t path_key, const PnResult *result,
                            uint64_t work) noexcept nogil:
    cdef Partition *part = partition_of(table, key)
    if table.shared:
        acquire_lock(&part.lock)
    if load_word(&part.capacity) == 0:
        set_capacity(table, part, RUN)
    store_result(table, part, key, hand, path_key, result, work)
    if load_word(&part.used) > load_word(&part.capacity) // 4 * 3:
        if load_word(&part.capacity) < table.share:
            enlarge(table, part)
        else:
            collect_garbage(table, part)
    if table.shared:
        release_lock(&part.lock)


cdef void store_result(const ProofTable *table, Partition *part, uint64_t key, Hand hand, uint64_t path_key,
                       const PnResult *result, uint64_t work) noexcept nogil:
    cdef bint solved = result.pn == 0 or result.dn == 0
    cdef ProofEntry *entry = entry_for(table, part, key, hand, result)
    cdef bint fresh = entry.work == 0
    entry.key = key
    entry.work = <uint32_t>min(1 + work + (0 if fresh else entry.work), <uint64_t>PROOF_INFINITE)
    entry.repetition_depth = result.repetition_depth
    add_to_word(&part.used, fresh)
    if solved and result.repetition_depth != PATH_INDEPENDENT:
        entry.hand = hand
        entry.path = <uint32_t>path_key
        entry.length = <int16_t>(path_key >> 32)
        if fresh:
            entry.pn = entry.dn = 1
    else:
        entry.pn = result.pn
        entry.dn = result.dn
        entry.length = result.length
        entry.hand = result.hand if solved else hand


cdef void set_capacity(const ProofTable *table, Partition *part, uint64_t capacity) noexcept nogil:
    """Free the entries from the present capacity up to the new one."""
    cdef uint64_t slot = load_word(&part.capacity)
    store_word(&part.capacity, capacity)
    while slot < capacity:
        memset(entry_at(table, part, slot), 0, RUN * sizeof(ProofEntry))
        slot += RUN


cdef void enlarge(const ProofTable *table, Partition *part) noexcept nogil:
    """Move the entries to the end of a larger partition, then each to its home slot, which is never after its place."""
    cdef uint64_t before = load_word(&part.capacity), after = min(before * GROWTH, table.share), slot
    cdef uint64_t first = after - before
    cdef ProofEntry *entry
    set_capacity(table, part, after)
    for slot in range(before, 0, -1):
        entry = entry_at(table, part, slot - 1)
        entry_at(table, part, first + slot - 1)[0] = entry[0]
        entry.work = 0
    rehash(table, part, first)


cdef void collect_garbage(const ProofTable *table, Partition *part) noexcept nogil:
    """Drop at least half of the entries, those with the least work (SmallTreeGC, A. Nagai)."""
    cdef uint64_t slot, kept = 0
    cdef uint32_t threshold = garbage_threshold(table, part)
    cdef ProofEntry *entry
    for slot in range(load_word(&part.capacity)):
        entry = entry_at(table, part, slot)
        if entry.work < threshold:
            entry.work = 0
        else:
            kept += 1
    store_word(&part.used, kept)
    rehash(table, part, 0)


cdef uint32_t garbage_threshold(const ProofTable *table, const Partition *part) noexcept nogil:
    """Return the least power of two that exceeds the work of at least half of the entries."""
    cdef uint64_t slot, kept = load_word(&part.used)
    cdef uint64_t used = kept
    cdef uint32_t threshold = 1
    while kept * 2 > used:
        threshold *= 2
        kept = 0
        for slot in range(load_word(&part.capacity)):
            kept += entry_at(table, part, slot).work >= threshold
    return threshold


cdef void rehash(const ProofTable *table, Partition *part, uint64_t first) noexcept nogil:
    """Move every entry from slot `first` on as near to its home slot as possible, starting after a free slot so that no
    cluster is split.
    """
    cdef uint64_t capacity = load_word(&part.capacity), start = first, step = 0, slot, home
    cdef ProofEntry *place
    cdef ProofEntry entry
    while entry_at(table, part, start).work:
        start += 1
    slot = start
    # The cluster after `start` is moved again: it may have been placed behind entries that were moved last.
    while step < capacity - first or entry_at(table, part, slot).work:
        place = entry_at(table, part, slot)
        if place.work:
            entry = place[0]
            place.work = 0
            home = home_slot(part, entry.key)
            while entry_at(table, part, home).work:
                home = next_slot(part, home)
            entry_at(table, part, home)[0] = entry
        slot = slot + 1 if slot + 1 < capacity else first
        step += 1


cdef int proof_table_fullness(const ProofTable *table) noexcept nogil:
    cdef uint64_t i, used = 0
    for i in range(table.count):
        used += load_word(&table.partitions[i].used)
    return <int>(used * 1000 // (table.count * table.share))


cdef void proof_table_free(ProofTable *table) noexcept nogil:
    release_large(table.block)
    table.block = NULL


cdef void proof_table_clear(ProofTable *table) noexcept nogil:
    cdef uint64_t i
    for i in range(table.count):
        store_word(&table.partitions[i].capacity, 0)
        store_word(&table.partitions[i].used, 0)
