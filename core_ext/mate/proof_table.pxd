"""Table of the mate search: proof and disproof numbers, and solved nodes with the hands to which they apply."""

from core_ext.base.atomic cimport SharedWord
from core_ext.base.stop cimport Stop
from core_ext.shogi.types cimport Hand, uint16_t, uint32_t, uint64_t

cdef enum:
    PROOF_INFINITE = 1 << 30
    PATH_INDEPENDENT = 65535

# `hand` is the attacker's. pn = 0: proved for every hand that covers it (the proof pieces). dn = 0: disproved for every
# hand that it covers (the disproof pieces). A disproof by a repetition is valid only on the path of `path_key`:
# `repetition_depth` is then the depth of the earliest repeated position, and pn and dn are the numbers for other paths.
cdef struct ProofEntry:
    uint64_t key
    uint64_t path_key
    Hand hand
    uint32_t pn
    uint32_t dn
    uint16_t length             # of the mate found, in plies
    uint16_t repetition_depth   # or PATH_INDEPENDENT
    uint32_t work               # nodes searched below, for garbage collection; 0 marks a free entry

cdef struct ProofTable:
    ProofEntry *entries
    void *block
    uint64_t capacity       # entries in use; grows to `limit`, so that a small problem writes to few pages
    uint64_t limit          # entries allocated
    SharedWord used         # occupied entries; other threads may read it
    const Stop *stop        # aborts an enlargement and a garbage collection
    bint rehash_aborted     # clear the table before the next search

# Result of a node, from its table entry, its initial numbers or its children.
cdef struct PnResult:
    uint32_t pn
    uint32_t dn
    Hand hand               # proof pieces or disproof pieces
    uint16_t length
    uint16_t repetition_depth

cdef int proof_table_allocate(ProofTable *table, int megabytes) except -1
cdef void proof_table_free(ProofTable *table) noexcept nogil
# Free all entries and start small again; only the part in use is written to.
cdef void proof_table_clear(ProofTable *table) noexcept nogil
# Return the permille of entries in use.
cdef int proof_table_fullness(const ProofTable *table) noexcept nogil
# Find the stored result of a node reached on the path `path_key`. If there is none, return False and set lower bounds of
# pn and dn from nodes with other hands.
cdef bint proof_table_probe(const ProofTable *table, uint64_t key, Hand hand, uint64_t path_key,
                            PnResult *found) noexcept nogil
# `work` is the number of nodes searched for the result. May enlarge the table or collect garbage.
cdef void proof_table_store(ProofTable *table, uint64_t key, Hand hand, uint64_t path_key, const PnResult *result,
                            uint64_t work) noexcept nogil
