"""The table of prooftable.pxd: open addressing, the entries of one board with all hands in one run."""

from libc.string cimport memset

from core_ext.shogi.hand cimport hand_covers
from core_ext.base.memory cimport allocate_large, release_large
from core_ext.base.stop cimport stop_requested
from core_ext.shogi.types cimport Hand, uint32_t, uint64_t

cdef enum:
    SAMPLE = 1 << 16    # entries looked at to decide which to keep; entries moved between two looks at the stop


cdef int allocate_table(ProofTable *table, int megabytes) except -1:
    cdef uint64_t capacity = (<uint64_t>megabytes << 20) // sizeof(ProofEntry)
    table.entries = <ProofEntry *>allocate_large(capacity * sizeof(ProofEntry), &table.block)
    if table.entries == NULL:
        raise MemoryError(f"no memory for a mate table of {megabytes} MB")
    table.capacity = capacity
    table.used = 0
    return 0


cdef inline uint64_t slot_of(const ProofTable *table, uint64_t key) noexcept nogil:
    # The high half of the product of key and capacity; keys' low bits are as good as the high ones.
    return ((key >> 32) * table.capacity) >> 32


cdef inline uint64_t next_slot(const ProofTable *table, uint64_t slot) noexcept nogil:
    return slot + 1 if slot + 1 < table.capacity else 0


cdef inline bint refutes(const ProofEntry *entry, Hand hand, uint64_t path) noexcept nogil:
    """Whether the entry decides against the attacker with this hand, on this line at least."""
    if entry.dn == 0:
        return hand_covers(entry.hand, hand)
    return entry.hand == hand and entry.taint != UNTAINTED and entry.path == path


cdef bint look_up(const ProofTable *table, uint64_t key, Hand hand, uint64_t path, Verdict *found) noexcept nogil:
    """What is known of a node, by its own entry or by one of another hand that decides it; of proofs the shortest.

    So a mate is never longer than it was when the node above it was proved by it, and a line that follows the shortest
    ones comes to its end.
    """
    cdef uint64_t slot = slot_of(table, key)
    cdef const ProofEntry *entry
    cdef bint known = False, proved = False
    while True:
        entry = table.entries + slot
        if entry.amount == 0:
            return known
        if entry.key == key:
            if entry.pn == 0:
                if hand_covers(hand, entry.hand) and (not proved or entry.length < found.length):
                    found[0] = verdict_of(entry)
                    known = proved = True
            elif not proved and refutes(entry, hand, path):
                found[0] = verdict_of(entry)
                found.pn = PROOF_INFINITE
                found.dn = 0
                return True
            elif not proved and entry.hand == hand and entry.dn:
                found[0] = verdict_of(entry)
                found.taint = UNTAINTED
                known = True
        slot = next_slot(table, slot)


cdef inline Verdict verdict_of(const ProofEntry *entry) noexcept nogil:
    cdef Verdict verdict
    verdict.pn = entry.pn
    verdict.dn = entry.dn
    verdict.hand = entry.hand
    verdict.length = entry.length
    verdict.taint = entry.taint
    return verdict


cdef ProofEntry *entry_for(ProofTable *table, uint64_t key, Hand hand, bint decided) noexcept nogil:
    """The node's own entry, undecided or (for the same hand) decided; else a free one."""
    cdef uint64_t slot = slot_of(table, key)
    cdef ProofEntry *entry
    while True:
        entry = table.entries + slot
        if entry.amount == 0:
            return entry
        if entry.key == key and entry.hand == hand and ((entry.pn and entry.dn) or decided):
            return entry
        slot = next_slot(table, slot)


cdef void store(ProofTable *table, uint64_t key, Hand hand, uint64_t path, const Verdict *verdict,
                uint64_t amount) noexcept nogil:
    cdef bint decided = verdict.pn == 0 or verdict.dn == 0
    cdef ProofEntry *entry = entry_for(table, key, hand, decided)
    cdef bint fresh = entry.amount == 0
    if verdict.taint != UNTAINTED and not fresh and not (entry.pn and entry.dn):
        return
    if verdict.pn == 0 and not fresh and entry.pn == 0 and entry.length < verdict.length:
        return      # a shorter mate is known
    entry.key = key
    entry.path = path
    entry.amount = <uint32_t>min(1 + amount + (0 if fresh else entry.amount), <uint64_t>PROOF_INFINITE)
    entry.taint = verdict.taint
    table.used += fresh
    if decided and verdict.taint != UNTAINTED:
        entry.hand = hand
        if fresh:
            entry.pn = entry.dn = 1
    else:
        entry.pn = verdict.pn
        entry.dn = verdict.dn
        entry.length = verdict.length
        entry.hand = verdict.hand if decided else hand
    if table.used > table.capacity // 4 * 3:
        make_room(table)


cdef void make_room(ProofTable *table) noexcept nogil:
    """Drop the entries with the least work behind them, about half of all or more, and close the gaps."""
    cdef uint64_t slot, kept = 0
    cdef uint32_t bar = worth_keeping(table)
    for slot in range(table.capacity):
        if table.entries[slot].amount < bar:
            table.entries[slot].amount = 0
        else:
            kept += 1
    table.used = kept
    close_gaps(table)


cdef uint32_t worth_keeping(const ProofTable *table) noexcept nogil:
    """The least power of two that half of a sample of the entries stays below."""
    cdef uint64_t slot, sampled = min(table.capacity, <uint64_t>SAMPLE), used, kept
    cdef uint32_t bar = 1
    while True:
        bar *= 2
        used = kept = 0
        for slot in range(sampled):
            used += table.entries[slot].amount > 0
            kept += table.entries[slot].amount >= bar
        if kept * 2 <= used:
            return bar


cdef void close_gaps(ProofTable *table) noexcept nogil:
    """Put every entry back where its run now begins, starting behind a free slot so that no run is cut in two.

    A stop must not wait for its end: the table is then marked as broken, to be cleared before the next search.
    """
    cdef uint64_t start = 0, step, slot, home
    cdef ProofEntry entry
    while table.entries[start].amount:
        start += 1
    slot = start
    for step in range(table.capacity):
        if step % SAMPLE == 0 and stop_requested(table.stop):
            table.broken = True
            return
        entry = table.entries[slot]
        if entry.amount:
            table.entries[slot].amount = 0
            home = slot_of(table, entry.key)
            while table.entries[home].amount:
                home = next_slot(table, home)
            table.entries[home] = entry
        slot = next_slot(table, slot)


cdef int table_fullness(const ProofTable *table) noexcept nogil:
    """Permille of the table in use."""
    return <int>(table.used * 1000 // table.capacity)


cdef void free_table(ProofTable *table) noexcept nogil:
    release_large(table.block)
    table.block = NULL


cdef void clear_table(ProofTable *table) noexcept nogil:
    memset(table.entries, 0, table.capacity * sizeof(ProofEntry))
    table.used = 0
    table.broken = False
