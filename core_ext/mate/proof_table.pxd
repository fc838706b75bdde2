"""Table of the mate search: proof and disproof numbers, and solved nodes with the hands to which they apply."""

from core_ext.base.atomic cimport SharedWord
from core_ext.base.lock cimport Lock
from core_ext.shogi.types cimport Hand, int16_t, uint16_t, uint32_t, uint64_t

cdef enum:
    PROOF_INFINITE = 1 << 30
    PATH_INDEPENDENT = 65535
    UNLIMITED = 20000       # plies, if the length of a mate is not limited
    PARTITIONS = 256        # of a large table

# `hand` is the attacker's. pn = 0: proved for every hand that covers it (the proof pieces). dn = 0: disproved for every
# hand that it covers (the disproof pieces). A disproof by a repetition is valid only on one path, of which 48 bits are
# stored: `repetition_depth` is then the depth of the earliest repeated position, `length` the rest of the path's key,
# and pn and dn are the numbers for other paths.
# Otherwise `length` is in plies: a proof is a mate in at most so many, a disproof excludes a mate within so many
# (UNLIMITED: any mate), the numbers of an unsolved node come from a search for a mate within so many.
cdef struct ProofEntry:
    uint64_t key
    uint32_t path               # low half of the path's key
    Hand hand
    uint32_t pn
    uint32_t dn
    uint32_t work               # nodes searched below, for garbage collection; 0 marks a free entry
    int16_t length
    uint16_t repetition_depth   # or PATH_INDEPENDENT

# A part of the table that grows and is garbage collected on its own, so that both are short. 64 bytes, because threads
# write to different partitions at the same time.
cdef struct Partition:
    ProofEntry *entries     # its first run; see entry_at
    SharedWord capacity     # entries in use, whole runs; grows to `share`; 0: cleared; a prefetch reads it unlocked
    SharedWord used         # occupied entries; other threads may read it
    Lock lock
    uint64_t padding[4]

cdef struct ProofTable:
    ProofEntry *entries
    void *block
    Partition partitions[PARTITIONS]
    uint64_t count          # of partitions, a power of two
    uint64_t share          # entries allocated for each partition
    bint shared             # by several threads: lock a partition to use it

# Result of a node, from its table entry, its initial numbers or its children.
cdef struct PnResult:
    uint32_t pn
    uint32_t dn
    Hand hand               # proof pieces or disproof pieces
    int16_t length          # see ProofEntry
    uint16_t repetition_depth

cdef int proof_table_allocate(ProofTable *table, int megabytes) except -1
cdef void proof_table_free(ProofTable *table) noexcept nogil
# Free all entries and start small again. This takes no longer for a large table.
cdef void proof_table_clear(ProofTable *table) noexcept nogil
# Return the permille of entries in use.
cdef int proof_table_fullness(const ProofTable *table) noexcept nogil
# Prefetch the node's entries.
cdef void proof_table_prefetch(ProofTable *table, uint64_t key) noexcept nogil
# Find the stored result for a mate within `remaining` plies of a node reached on the path `path_key`, which
# differs for each limit of the search. If there is none, return False and set lower bounds of pn and dn from nodes with
# other hands.
cdef bint proof_table_probe(ProofTable *table, uint64_t key, Hand hand, int remaining, uint64_t path_key,
                            PnResult *found) noexcept nogil
# `work` is the number of nodes searched for the result. May enlarge a partition or collect its garbage.
cdef void proof_table_store(ProofTable *table, uint64_t key, Hand hand, uint64_t path_key, const PnResult *result,
                            uint64_t work) noexcept nogil
