"""Several threads on one root (T. Kaneko, Parallel Depth First Proof Number Search, 2010)."""

from core_ext.mate.proof_table cimport PnResult
from core_ext.mate.solver cimport Solver

# Return the table's result if it solves the root, else that of a search by as many threads as shared.wanted says, which
# may change meanwhile. Unsolved (pn and dn above 0) if stopped.
cdef PnResult prove(Solver *solver, bint attacking, int remaining) noexcept nogil
# Free the memory of all helpers.
cdef void free_helpers(Solver *solver) noexcept nogil
