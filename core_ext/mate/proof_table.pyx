"""Open addressing with linear probing; all entries of a key, with any hands, are in one run."""

from libc.string cimport memmove, memset

from core_ext.shogi.hand cimport hand_covers
from core_ext.base.atomic cimport add_to_word, load_word, store_word
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.base.stop cimport past_deadline, stop_requested
from core_ext.shogi.types cimport Hand, uint32_t, uint64_t

cdef enum:
    SAMPLE = 1 << 16    # entries sampled for the garbage threshold; entries moved between two checks of the stop flag
    SMALLEST = 1 << 14  # entries in use at first
    GROWTH = 8          # factor of an enlargement
    LARGE = 1 << 20     # a table in use of this size grows to its limit, so that no larger copy delays a stop


cdef int proof_table_allocate(ProofTable *table, int megabytes) except -1:
    # slot_of uses half of the key, which cannot address more entries.
    cdef uint64_t capacity = min((<uint64_t>megabytes << 20) // sizeof(ProofEntry), <uint64_t>1 << 32)
    table.entries = <ProofEntry *>allocate_large(capacity * sizeof(ProofEntry), &table.block)
    if table.entries == NULL:
        raise MemoryError(f"no memory for a mate table of {megabytes} MB")
    table.limit = capacity
    table.capacity = min(capacity, <uint64_t>SMALLEST)
    store_word(&table.used, 0)
    return 0


cdef inline uint64_t slot_of(const ProofTable *table, uint64_t key) noexcept nogil:
    # Map the high half of the key to 0 .. capacity - 1 by a multiplication.
    return ((key >> 32) * table.capacity) >> 32


cdef inline uint64_t next_slot(const ProofTable *table, uint64_t slot) noexcept nogil:
    return slot + 1 if slot + 1 < table.capacity else 0


cdef inline bint disproves(const ProofEntry *entry, Hand hand, uint64_t path_key) noexcept nogil:
    """Return whether the entry is a disproof for this hand, at least on this path."""
    if entry.dn == 0:
        return hand_covers(entry.hand, hand)
    return entry.hand == hand and entry.repetition_depth != PATH_INDEPENDENT and entry.path_key == path_key


cdef bint proof_table_probe(const ProofTable *table, uint64_t key, Hand hand, uint64_t path_key,
                            PnResult *found) noexcept nogil:
    """Find the node's own entry, or one with another hand that solves it; of several proofs the shortest mate.
    So a stored mate never becomes longer than when its parent was proved, and a line of shortest mates ends. More pieces
    in hand never make pn larger or dn smaller, so unsolved entries with other hands bound the numbers.
    """
    cdef uint64_t slot = slot_of(table, key)
    cdef const ProofEntry *entry
    cdef bint known = False, proved = False
    cdef uint32_t least_pn = 1, least_dn = 1
    while True:
        entry = table.entries + slot
        if entry.work == 0:
            break
        if entry.key == key:
            if entry.pn == 0:
                if hand_covers(hand, entry.hand) and (not proved or entry.length < found.length):
                    found[0] = result_of(entry)
                    known = proved = True
            elif not proved and disproves(entry, hand, path_key):
                found[0] = result_of(entry)
                found.pn = PROOF_INFINITE
                found.dn = 0
                return True
            elif not proved and entry.dn:
                if entry.hand == hand:
                    found[0] = result_of(entry)
                    found.repetition_depth = PATH_INDEPENDENT
                    known = True
                elif hand_covers(entry.hand, hand):
                    least_pn = max(least_pn, entry.pn)
                elif hand_covers(hand, entry.hand):
                    least_dn = max(least_dn, entry.dn)
        slot = next_slot(table, slot)
    if not proved:
        found.pn = max(found.pn, least_pn) if known else least_pn
        found.dn = max(found.dn, least_dn) if known else least_dn
    return known


cdef inline PnResult result_of(const ProofEntry *entry) noexcept nogil:
    return PnResult(entry.pn, entry.dn, entry.hand, entry.length, entry.repetition_depth)


cdef ProofEntry *entry_for(ProofTable *table, uint64_t key, Hand hand, bint solved) noexcept nogil:
    """Return the node's own entry, unsolved or (with the same hand) solved; else a free one."""
    cdef uint64_t slot = slot_of(table, key)
    cdef ProofEntry *entry
    while True:
        entry = table.entries + slot
        if entry.work == 0:
            return entry
        if entry.key == key and entry.hand == hand and ((entry.pn and entry.dn) or solved):
            return entry
        slot = next_slot(table, slot)


cdef void proof_table_store(ProofTable *table, uint64_t key, Hand hand, uint64_t path_key, const PnResult *result,
                            uint64_t work) noexcept nogil:
    cdef bint solved = result.pn == 0 or result.dn == 0
    cdef ProofEntry *entry = entry_for(table, key, hand, solved)
    cdef bint fresh = entry.work == 0
    if result.repetition_depth != PATH_INDEPENDENT and not fresh and not (entry.pn and entry.dn):
        return
    if result.pn == 0 and not fresh and entry.pn == 0 and entry.length < result.length:
        return      # the stored mate is shorter
    entry.key = key
    entry.path_key = path_key
    entry.work = <uint32_t>min(1 + work + (0 if fresh else entry.work), <uint64_t>PROOF_INFINITE)
    entry.repetition_depth = result.repetition_depth
    add_to_word(&table.used, fresh)
    if solved and result.repetition_depth != PATH_INDEPENDENT:
        entry.hand = hand
        if fresh:
            entry.pn = entry.dn = 1
    else:
        entry.pn = result.pn
        entry.dn = result.dn
        entry.length = result.length
        entry.hand = result.hand if solved else hand
    if load_word(&table.used) > table.capacity // 4 * 3:
        if table.capacity < table.limit:
            enlarge(table)
        else:
            collect_garbage(table)


cdef void enlarge(ProofTable *table) noexcept nogil:
    """Move the entries to the end of a larger table, then each to its home slot, which is never after its place."""
    cdef uint64_t before = table.capacity, first
    table.capacity = table.limit if before >= LARGE else min(before * GROWTH, table.limit)
    first = table.capacity - before
    memmove(table.entries + first, table.entries, before * sizeof(ProofEntry))
    memset(table.entries, 0, min(before, first) * sizeof(ProofEntry))
    rehash(table, first)


cdef void collect_garbage(ProofTable *table) noexcept nogil:
    """Drop at least half of the entries, those with the least work (SmallTreeGC, A. Nagai)."""
    cdef uint64_t slot, kept = 0
    cdef uint32_t threshold = garbage_threshold(table)
    for slot in range(table.capacity):
        if table.entries[slot].work < threshold:
            table.entries[slot].work = 0
        else:
            kept += 1
    store_word(&table.used, kept)
    rehash(table, 0)


cdef uint32_t garbage_threshold(const ProofTable *table) noexcept nogil:
    """Return the least power of two that exceeds the work of at least half of a sample of the entries."""
    cdef uint64_t slot, sampled = min(table.capacity, <uint64_t>SAMPLE), used, kept
    cdef uint32_t threshold = 1
    while True:
        threshold *= 2
        used = kept = 0
        for slot in range(sampled):
            used += table.entries[slot].work > 0
            kept += table.entries[slot].work >= threshold
        if kept * 2 <= used:
            return threshold


cdef void rehash(ProofTable *table, uint64_t first) noexcept nogil:
    """Move every entry from slot `first` on as near to its home slot as possible, starting after a free slot so that no
    run is split. A stop leaves the table unusable until it is cleared (rehash_aborted).
    """
    cdef uint64_t start = first, step = 0, slot, home
    cdef ProofEntry entry
    while table.entries[start].work:
        start += 1
    slot = start
    # The run after `start` is moved again: it may have been placed behind entries that were moved last.
    while step < table.capacity - first or table.entries[slot].work:
        if step % SAMPLE == 0 and (stop_requested(table.stop) or past_deadline(table.stop)):
            table.rehash_aborted = True
            return
        entry = table.entries[slot]
        if entry.work:
            table.entries[slot].work = 0
            home = slot_of(table, entry.key)
            while table.entries[home].work:
                home = next_slot(table, home)
            table.entries[home] = entry
        slot = slot + 1 if slot + 1 < table.capacity else first
        step += 1


cdef int proof_table_fullness(const ProofTable *table) noexcept nogil:
    return <int>(load_word(&table.used) * 1000 // table.limit)


cdef void proof_table_free(ProofTable *table) noexcept nogil:
    release_large(table.block)
    table.block = NULL


cdef void proof_table_clear(ProofTable *table) noexcept nogil:
    if load_word(&table.used):
        memset(table.entries, 0, table.capacity * sizeof(ProofEntry))
    table.capacity = min(table.limit, <uint64_t>SMALLEST)
    store_word(&table.used, 0)
    table.rehash_aborted = False
