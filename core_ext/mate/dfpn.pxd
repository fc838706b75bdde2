"""Mate search by proof numbers: is there a mate by checks, and by which moves?

The attacker is the side to move at the root; it gives checks (OR nodes), the defender answers them (AND nodes). A
search is unlimited, or looks for a mate within a number of plies.
"""

from core_ext.base.stop cimport Stop
from core_ext.shogi.position cimport Position
from core_ext.mate.proof_table cimport ProofTable, Verdict
from core_ext.shogi.types cimport Hand, Move, uint8_t, uint32_t, uint64_t

cdef enum:
    UNLIMITED = 20000       # plies remaining, where no limit was set
    MAX_FRAMES = 4096       # the deepest line
    MAX_CHILDREN = 1 << 18  # of all nodes of the current line together

cdef struct Child:
    uint64_t key
    Hand hand               # the attacker's after the move
    Verdict verdict
    uint32_t peak           # in the leader of a group: its greatest number
    int leader              # the first child of its group; children of one group are all but the same move
    int remaining
    Move move
    uint8_t context         # see Frame
    uint8_t returned        # the captured piece goes back: a useless interposition taken

cdef struct Frame:
    uint64_t key
    uint64_t path
    uint64_t nodes_before
    Hand hand
    uint32_t pn_limit
    uint32_t dn_limit
    Verdict verdict
    int first
    int count
    int chosen
    int remaining           # plies within which to mate
    int context             # 1 + square of the slider whose check was just interposed by a drop; 0 else
    bint attacking
    bint returned

cdef struct Solver:
    Position pos
    ProofTable table
    Frame *frames
    Child *children
    int depth
    int base                # plies on the board before the search: the frame of its root stands here
    int attacker
    uint64_t salt           # of the set of pieces in play
    bint count_useless      # whether useless interpositions lengthen a mate
    bint stopped
    uint64_t nodes          # positions set up
    uint64_t expanded       # those of them whose moves were made
    uint64_t node_limit     # 0: none
    const Stop *stop

cdef int allocate_solver(Solver *solver, int megabytes) except -1
cdef void free_solver(Solver *solver) noexcept nogil
cdef int set_root(Solver *solver, const Position *pos) except -1 nogil
# Search the position in solver.pos (for a mate within `remaining` plies); its children are in the frame at solver.base
# then. To go back to a position of the last solver.base plies is the attacker's failure.
cdef void explore(Solver *solver, bint attacking, int remaining, int context) noexcept nogil
# The verdict on it; pn and dn are both above 0 where the search was stopped.
cdef Verdict prove(Solver *solver, bint attacking, int remaining, int context) noexcept nogil
cdef void make(Solver *solver, Move move, bint returned) noexcept nogil
