"""What the mate search knows: proof and disproof numbers, proofs and refutations with the hands they hold for."""

from core_ext.base.stop cimport Stop
from core_ext.shogi.types cimport Hand, uint16_t, uint32_t, uint64_t

cdef enum:
    PROOF_INFINITE = 1 << 30
    UNTAINTED = 65535

# `hand` is the attacker's. pn = 0: proved for every hand that covers it; dn = 0: refuted for every hand that it covers.
# A refutation that rests on a repetition holds for the line whose hash is `path` only: then `taint` is the depth of the
# earliest position repeated, and pn and dn are what other lines may go by.
cdef struct ProofEntry:
    uint64_t key
    uint64_t path
    Hand hand
    uint32_t pn
    uint32_t dn
    uint16_t length         # of the mate that was found, in plies
    uint16_t taint
    uint32_t amount         # of work spent, for the clearing; 0 marks a free entry

cdef struct ProofTable:
    ProofEntry *entries
    void *block
    uint64_t capacity
    uint64_t used
    const Stop *stop      # cuts a clearing short
    bint broken             # one was cut short

# What the table, or a first look, says of a node.
cdef struct Verdict:
    uint32_t pn
    uint32_t dn
    Hand hand               # which the proof needs, or up to which the refutation holds
    uint16_t length
    uint16_t taint

cdef int allocate_table(ProofTable *table, int megabytes) except -1
cdef void free_table(ProofTable *table) noexcept nogil
cdef void clear_table(ProofTable *table) noexcept nogil
cdef int table_fullness(const ProofTable *table) noexcept nogil
# What is known of a node that was reached by `path`; False: nothing.
cdef bint look_up(const ProofTable *table, uint64_t key, Hand hand, uint64_t path, Verdict *found) noexcept nogil
# `amount`: the work that the verdict cost. May clear the table of what cost least.
cdef void store(ProofTable *table, uint64_t key, Hand hand, uint64_t path, const Verdict *verdict,
                uint64_t amount) noexcept nogil
