"""Solves a mate problem: whether there is a mate, and its line."""

from core_ext.mate.dfpn cimport MAX_MATE_PLY, Solver
from core_ext.shogi.types cimport Move

cdef enum:
    UNSOLVED = 0
    SOLVED_MATE = 1
    SOLVED_NO_MATE = 2

cdef enum:
    AIM_FIRST = 0       # take the mate found first
    AIM_SHORTER = 1     # search for the shortest mate with about as many nodes again as the proof took
    AIM_SHORTEST = 2    # search until the shortest mate is proved

cdef struct Solution:
    Move line[MAX_MATE_PLY]
    int length
    bint shortest           # proved to be the shortest mate

# Solves the root of `solver` within its node_limit (0: none) and until its stop flag is set; returns one of SOLVED_...
# `aim`: how far the shortest mate is searched for once a mate is found.
cdef int solve(Solver *solver, Solution *solution, int aim) noexcept nogil
