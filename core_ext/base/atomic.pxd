"""Words that several threads read and write without a lock, in no order: relaxed atomics of C11."""

from libc.stdint cimport uint64_t

cdef extern from "base/atomic.h" nogil:
    ctypedef struct SharedWord:
        pass
    uint64_t load_word(const SharedWord *word)
    void store_word(SharedWord *word, uint64_t value)
    # Add to a word that only this thread writes.
    void add_to_word(SharedWord *word, uint64_t number)
    # Add to a word that several threads add to; <uint64_t>-1 takes one away.
    void count_in_word(SharedWord *word, uint64_t number)
