"""Df-pn mate search: depth-first proof-number search for a mate by checks, in any number of plies or within a limit.

The attacker is the side to move at the root and gives checks at OR nodes; the defender evades at AND nodes. A proof
(pn 0) is a mate, a disproof (dn 0) means that there is none.
"""

from core_ext.mate.proof_table cimport PnResult
from core_ext.mate.solver cimport Child, PnNode, Solver

# Search solver.pos for a mate within `remaining` plies. Afterwards its node is stack[solver.base], its first child
# children[0]. A repetition of one of the solver.base positions before it counts as no mate.
cdef void search_root(Solver *solver, bint attacking, int remaining) noexcept nogil
# Continue search_root after a pause.
cdef void search_loop(Solver *solver) noexcept nogil
# Return whether the table has a proof or disproof of solver.pos as a root, which is then in `result`.
cdef bint root_is_solved(Solver *solver, int remaining, PnResult *result) noexcept nogil
# Return the shortest mate found among the node's children, or NULL.
cdef Child *shortest_mate_child(Solver *solver, const PnNode *node) noexcept nogil
