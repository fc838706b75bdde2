"""The state of a mate search, its moves and the first numbers of its nodes."""

from core_ext.base.atomic cimport SharedWord
from core_ext.base.stop cimport Stop
from core_ext.shogi.hand cimport hand_one
from core_ext.shogi.position cimport Position, hand_of
from core_ext.mate.proof_table cimport PATH_INDEPENDENT, PROOF_INFINITE, ProofTable, PnResult
from core_ext.mate.shared cimport SharedSearch
from core_ext.shogi.types cimport *

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
    SharedSearch *shared
    bint together           # other threads search too
    int helpers             # the leader's helpers at work
    uint64_t alone_until    # node count up to which no helper may join the leader
    bint paused             # search_loop returned because more threads are wanted; call it again
    const SharedWord *leader_nodes  # NULL in the leader
    uint64_t elsewhere      # moves made by the other threads, as of the last check
    uint64_t reported       # moves that a helper has added to shared.nodes
    uint64_t settled_seen   # shared.settled when the line was last searched for solved nodes
    int abandoned           # depth of a node on the line that another thread has solved, or MAX_MATE_PLY

# Allocate the line; the caller sets `table`, `shared` and `stop`.
cdef int allocate_solver(Solver *solver) except -1
cdef void free_solver(Solver *solver) noexcept nogil
cdef int set_root(Solver *solver, const Position *pos) except -1 nogil
# Let a position with the attacker to move count as no mate until the next set_root. Call it for all such positions
# without `store`, which changes the keys, and then for all with it.
cdef void avoid_position(Solver *solver, const Position *pos, bint store) noexcept nogil
# Make a move; if `returned`, the captured piece goes to the defender's hand instead of the attacker's.
cdef void make_move(Solver *solver, Move move, bint returned) noexcept nogil
# Return the result of a new node for the position on the board: a node of the defender, of the attacker.
cdef PnResult initial_and_node(Solver *solver, int remaining) noexcept nogil
cdef PnResult initial_or_node(Solver *solver, int remaining, int blocked_slider) noexcept nogil


cdef inline uint64_t node_key(const Solver *s, uint64_t board_key, int blocked_slider) noexcept nogil:
    return board_key ^ s.salt ^ <uint64_t>blocked_slider * <uint64_t>0xD1B54A32D192ED03


cdef inline uint64_t extend_path(uint64_t path_key, uint64_t key, Hand hand) noexcept nogil:
    """Return the path key with another position."""
    cdef uint64_t mixed = (path_key ^ key ^ (<uint64_t>hand << 20)) * <uint64_t>0xBF58476D1CE4E5B9
    return mixed ^ (mixed >> 29)


cdef inline Hand hand_after(const Solver *s, Move32 move, bint attacking) noexcept nogil:
    """Return the attacker's hand after a move of either side."""
    cdef Hand hand = hand_of(&s.pos, s.attacker)
    if not attacking:
        return hand
    if is_drop(move):
        return hand - hand_one(dropped_type(move))
    if captured_piece(move):
        return hand + hand_one(raw_type(type_of(captured_piece(move))))
    return hand


cdef inline PnResult unsolved(uint32_t pn, uint32_t dn, int remaining) noexcept nogil:
    return PnResult(pn, dn, 0, <int16_t>remaining, PATH_INDEPENDENT)


cdef inline PnResult proved(Hand hand, int length) noexcept nogil:
    return PnResult(0, PROOF_INFINITE, hand, <int16_t>length, PATH_INDEPENDENT)


cdef inline PnResult disproved(Hand hand, int length, int repetition_depth) noexcept nogil:
    return PnResult(PROOF_INFINITE, 0, hand, <int16_t>length, <uint16_t>repetition_depth)
