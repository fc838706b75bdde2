"""Memory of a search thread."""

from libc.stdlib cimport free
from libc.string cimport memset

from core_ext.base.atomic cimport store_word
from core_ext.base.memory cimport (
    allocate, allocate_large, clear_large, reallocate, release_large, touch_large,
)
from core_ext.shogi.position cimport allocate_position, free_position
from core_ext.shogi.types cimport MAX_MOVES


cdef Histories *allocate_histories(void **block, bint lazy) except NULL:
    cdef Histories *histories = <Histories *>allocate_large(sizeof(Histories), block)
    if histories == NULL:
        raise MemoryError("no memory for the move histories")
    if not lazy:
        touch_large(histories, sizeof(Histories))
    return histories


cdef int allocate_searcher(Searcher *s, bint lazy) except -1:
    memset(s, 0, sizeof(Searcher))
    allocate_position(&s.pos, 2 * MAX_PLY)
    s.histories = allocate_histories(&s.histories_block, lazy)
    s.roots = <RootMove *>allocate(MAX_MOVES * sizeof(RootMove))
    s.move_memory = <ScoredMove *>allocate((MAX_PLY + 2) * 2 * MAX_MOVES * sizeof(ScoredMove))
    if s.roots == NULL or s.move_memory == NULL:
        free_searcher(s)
        raise MemoryError("no memory for a search thread")
    return 0


cdef void free_searcher(Searcher *s) noexcept nogil:
    free_position(&s.pos)
    release_large(s.histories_block)
    free(s.roots)
    free(s.move_memory)
    free(s.samples.sample)
    memset(s, 0, sizeof(Searcher))


cdef int allocate_samples(Searcher *s, int every, int room) except -1:
    cdef Sample *sample = <Sample *>reallocate(s.samples.sample, room * sizeof(Sample))
    if sample == NULL:
        raise MemoryError(f"no memory for {room} samples")
    s.samples.sample = sample
    s.samples.room = room
    s.samples.every = every
    s.samples.left = s.samples.count = 0
    return 0


cdef void clear_searcher(Searcher *s) noexcept nogil:
    clear_large(s.histories, sizeof(Histories))


cdef void new_root(Searcher *s) noexcept nogil:
    # Cutoffs of the first two plies are counted over all iterations; enter_node resets those of the other plies.
    s.stack[STACK_OFFSET].cutoffs = s.stack[STACK_OFFSET + 1].cutoffs = 0
    clear_large(s.histories.low_ply, sizeof(s.histories.low_ply))
    s.last_pv_length = 0
    store_word(&s.nodes, 0)
    s.samples.count = 0
