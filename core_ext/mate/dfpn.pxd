"""Df-pn mate search: depth-first proof-number search for a mate by checks, in any number of plies or within a limit.

The attacker is the side to move at the root and gives checks at OR nodes; the defender evades at AND nodes. A proof
(pn 0) is a mate, a disproof (dn 0) means that there is none.
"""

from core_ext.base.atomic cimport SharedWord
from core_ext.base.stop cimport Stop
from core_ext.shogi.position cimport Position
from core_ext.mate.crowd cimport Crowd
from core_ext.mate.proof_table cimport ProofTable, PnResult, UNLIMITED
from core_ext.shogi.types cimport Hand, Move, uint8_t, uint32_t, uint64_t

cdef enum:
    MAX_MATE_PLY = 4096     # longest line
    MAX_CHILDREN = 1 << 18  # of all nodes on the current line together

# The capture of a futile interposition, after which no plies remain. A piece that was dropped returns to the defender's
# hand, as if nothing had happened. One moved from the board is kept by the attacker, which has no ply left to drop it:
# in the hand it would defend better than on the board.
cdef enum:
    RETURNED = 1
    KEPT = 2

cdef struct Child:
    uint64_t key
    Hand hand               # the attacker's, after the move
    PnResult result
    int remaining           # see PnNode, also for blocked_slider
    Move move
    uint8_t blocked_slider
    uint8_t futile          # RETURNED, KEPT: the capture of a futile interposition; else 0
    int previous            # the child before it in its group, or -1
    bint waiting            # for `previous` to be settled; until then it counts as settled itself
    bint unsupported        # a drop of the defender on a square that none of its pieces attacks

# A node on the current line.
cdef struct PnNode:
    uint64_t key            # board, set of pieces and `blocked_slider`, without the hands
    uint64_t path_key       # hash of the search's limit and the positions on the path to the node, in order
    uint64_t nodes_before   # Solver.nodes when the node was entered
    Hand hand               # the attacker's
    uint32_t thpn           # thresholds of pn and dn
    uint32_t thdn
    PnResult result
    int first               # index of the first of `count` children in Solver.children
    int count
    int chosen              # the child to search next
    int waiting             # number of waiting children
    uint32_t others         # part of the delta that is not the chosen child's
    int remaining           # plies left for the mate
    int blocked_slider      # 1 + square of the checking slider that the last move blocked; else 0
    bint attacking          # OR node

cdef struct Solver:
    Position pos
    ProofTable *table
    PnNode *stack           # the current line, by depth
    Child *children
    int depth               # plies on the board
    int base                # depth of the root; earlier positions count for repetitions only
    int attacker
    uint64_t salt           # part of every key: pieces in play, attacker, count_all_interpositions
    bint count_all_interpositions   # futile interpositions lengthen a mate
    bint stopped            # by the stop flag, the deadline, the node limit or a full stack
    SharedWord nodes        # moves made; other threads may read it
    uint64_t expanded       # nodes whose moves were generated
    uint64_t node_limit     # 0: none
    uint64_t next_check     # node count at which the clock is read next
    const Stop *stop
    # Several threads on one root; see mate.team. The first of them leads, the others are helpers.
    Crowd *crowd
    bint together           # other threads search too
    int helpers             # the leader's helpers at work
    uint64_t alone_until    # node count up to which no helper may join the leader
    bint paused             # search_loop returned because more threads are wanted; call it again
    const SharedWord *leader_nodes  # NULL in the leader
    uint64_t elsewhere      # moves made by the other threads, as of the last check
    uint64_t reported       # moves that a helper has added to crowd.nodes
    uint64_t settled_seen   # crowd.settled when the line was last searched for solved nodes
    int abandoned           # depth of a node on the line that another thread has solved, or MAX_MATE_PLY

# Allocate the line; the caller sets `table`, `crowd` and `stop`.
cdef int allocate_solver(Solver *solver) except -1
cdef void free_solver(Solver *solver) noexcept nogil
cdef int set_root(Solver *solver, const Position *pos) except -1 nogil
# Let a position with the attacker to move count as no mate until the next set_root. To be called for all such positions,
# first without `store`, which makes keys of their own, then with it.
cdef void avoid_position(Solver *solver, const Position *pos, bint store) noexcept nogil
# Search solver.pos for a mate within `remaining` plies. Afterwards its node is stack[solver.base], its first child
# children[0]. A repetition of one of the solver.base positions before it counts as no mate.
cdef void search_root(Solver *solver, bint attacking, int remaining) noexcept nogil
# Continue search_root after a pause.
cdef void search_loop(Solver *solver) noexcept nogil
# Return whether the table has a proof or disproof of solver.pos as a root, which is then in `result`.
cdef bint root_is_solved(Solver *solver, int remaining, PnResult *result) noexcept nogil
# Return the shortest mate found among the node's children, or NULL.
cdef Child *shortest_mate_child(Solver *solver, const PnNode *node) noexcept nogil
# Make a move; if `returned`, the captured piece goes to the defender's hand instead of the attacker's.
cdef void make_move(Solver *solver, Move move, bint returned) noexcept nogil
