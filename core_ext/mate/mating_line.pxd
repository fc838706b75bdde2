"""Solving a mate problem: is there a mate, and by which line?"""

from core_ext.mate.solver cimport MAX_MATE_PLY, Solver
from core_ext.shogi.types cimport Move

cdef enum:
    UNSOLVED, SOLVED_MATE, SOLVED_NO_MATE

cdef enum:
    AIM_FIRST = 0       # take the first mate found
    AIM_SHORTER = 1     # search for the shortest mate with about as many nodes as the proof took
    AIM_SHORTEST = 2    # search until a mate is proved the shortest

cdef struct Solution:
    Move line[MAX_MATE_PLY]
    int length
    bint shortest           # proved to be shortest

# Solve the root of `solver` within its node_limit (0: none) and until it is stopped; return SOLVED_... or UNSOLVED.
# `aim` says how long to search for the shortest mate once a mate is found.
cdef int solve(Solver *solver, Solution *solution, int aim) noexcept nogil
# Solve the position after `check`: does it mate against every evasion? The line begins with the check and is a shortest
# one if that is found quickly.
cdef int solve_check(Solver *solver, Solution *solution, Move check) noexcept nogil
