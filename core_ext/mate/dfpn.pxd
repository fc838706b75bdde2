"""Df-pn mate search: depth-first proof-number search for a mate by checks, in any number of plies or within a limit.

The attacker is the side to move at the root. It gives checks: its nodes are OR nodes; those of the defender, who
answers the checks, are AND nodes. A proof (pn 0) is a mate, a disproof (dn 0) means that there is none.
"""

from core_ext.base.stop cimport Stop
from core_ext.shogi.position cimport Position
from core_ext.mate.proof_table cimport ProofTable, PnResult
from core_ext.shogi.types cimport Hand, Move, uint8_t, uint32_t, uint64_t

cdef enum:
    UNLIMITED = 20000       # `remaining` of a search without a limit on the plies
    MAX_MATE_PLY = 4096     # the deepest line
    MAX_CHILDREN = 1 << 18  # of all nodes on the current line together

cdef struct Child:
    uint64_t key
    Hand hand               # the attacker's after the move
    PnResult result
    uint32_t max_phi        # in the leader of a group: the greatest phi of the group
    int leader              # the first child of its group; the moves of a group count as one
    int remaining           # as in PnNode, as is blocked_slider
    Move move
    uint8_t blocked_slider
    uint8_t returned        # the capture of a futile interposition: the piece goes back to the defender's hand

# A node on the current line.
cdef struct PnNode:
    uint64_t key            # board, set of pieces, `remaining` and `blocked_slider`, without the hands
    uint64_t path_key       # hash of the positions on the way to the node, in their order
    uint64_t nodes_before   # nodes of the search before the node was entered
    Hand hand               # the attacker's
    uint32_t thpn           # thresholds of the proof and the disproof number
    uint32_t thdn
    PnResult result
    int first               # the node's children: `count` from `first` on in Solver.children
    int count
    int chosen              # the child to search next
    int remaining           # plies within which to mate
    int blocked_slider      # 1 + square of the checking slider that the last move, a drop, interposed against; else 0
    bint attacking          # OR node

cdef struct Solver:
    Position pos
    ProofTable table
    PnNode *stack           # the current line, by depth
    Child *children
    int depth               # plies on the board
    int base                # depth of the search's root; the positions before it count for repetitions only
    int attacker
    uint64_t salt           # part of every key: the set of pieces in play, the attacker, the way of counting
    bint count_all_interpositions   # whether futile interpositions lengthen a mate
    bint stopped            # by the stop flag, the deadline, the node limit or a full stack
    uint64_t nodes          # moves made
    uint64_t expanded       # nodes whose moves were generated
    uint64_t node_limit     # 0: none
    uint64_t next_check     # the node count at which the clock is read next
    const Stop *stop

cdef int allocate_solver(Solver *solver, int megabytes) except -1
cdef void free_solver(Solver *solver) noexcept nogil
cdef int set_root(Solver *solver, const Position *pos) except -1 nogil
# Search the position in solver.pos, for a mate within `remaining` plies. Afterwards its node is stack[solver.base],
# with its children from children[0] on. A repetition of one of the solver.base positions before it counts as no mate.
cdef void search_root(Solver *solver, bint attacking, int remaining, int blocked_slider) noexcept nogil
# The same, with the result; from the table alone if it is stored there. Unsolved (pn and dn above 0) if stopped.
cdef PnResult prove(Solver *solver, bint attacking, int remaining, int blocked_slider) noexcept nogil
# `returned`: the captured piece goes to the defender's hand instead of the attacker's.
cdef void make_move(Solver *solver, Move move, bint returned) noexcept nogil
