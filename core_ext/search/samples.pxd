"""Sample the positions that a search evaluates, as lines from the root, for learning."""

from core_ext.search.searcher cimport STACK_OFFSET, Sample, Samples, Searcher
from core_ext.shogi.types cimport Move, NULL_MOVE


cdef inline bint copy_line(const Searcher *s, int ply, Sample *sample) noexcept nogil:
    """Copy the moves of the search stack up to `ply`. Return False if one of them is a null move."""
    cdef int i
    cdef Move move
    for i in range(ply):
        move = <Move>s.stack[STACK_OFFSET + i].move
        if move == NULL_MOVE:
            return False
        sample.moves[i] = move
    sample.length = ply
    return True


cdef inline void sample_position(Searcher *s, int ply) noexcept nogil:
    """Count an evaluated position, and store its line if it is the next to be sampled."""
    cdef Samples *samples = &s.samples
    if samples.every and samples.count < samples.room:
        samples.left -= 1
        if samples.left <= 0:
            samples.left = samples.every
            samples.count += copy_line(s, ply, &samples.sample[samples.count])
