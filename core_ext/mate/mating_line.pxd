"""Is there a mate by checks, and by which moves?"""

from core_ext.mate.dfpn cimport MAX_FRAMES, Solver
from core_ext.shogi.types cimport Move

cdef enum:
    SOLVED_UNKNOWN = 0
    SOLVED_MATE = 1
    SOLVED_NO_MATE = 2

cdef enum:
    AIM_FIRST = 0       # not at all
    AIM_SHORTER = 1     # for about as long as the proof itself took
    AIM_SHORTEST = 2    # until it is found

cdef struct Solution:
    Move line[MAX_FRAMES]
    int length
    bint shortest           # proved to be

# For the root of the solver: at most its node_limit nodes (0: any number), until its stop. The aim says how
# long the shortest mate is looked for once there is one.
cdef int solve(Solver *solver, Solution *solution, int aim) noexcept nogil
