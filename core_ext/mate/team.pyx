"""Each thread runs its own search from the root over the shared table, with its own position and line.

The leader, in whose thread `prove` was called, searches alone at first, so that a small problem costs no thread. Then
it lets helpers start from the root. A thread that would search a child in which another one is takes another child
that is nearly as good, and before it searches a child it takes over the numbers that others have stored (see
step_aside and adopt_result in mate.dfpn). All stop as soon as one has solved the root or reached a limit.
"""

from libc.stdlib cimport free

from core_ext.base.atomic cimport add_to_word, count_in_word, load_word, store_word
from core_ext.base.memory cimport allocate_zeroed
from core_ext.base.thread cimport Thread, end_thread, free_thread, join_thread, start_thread
from core_ext.mate.dfpn cimport root_is_solved, search_loop, search_root
from core_ext.mate.proof_table cimport PnResult
from core_ext.mate.shared cimport MAX_HELPERS, enter_node
from core_ext.mate.solver cimport MAX_MATE_PLY, Solver, allocate_solver, free_solver
from core_ext.shogi.position cimport copy_position, undo_move
from core_ext.shogi.types cimport uint64_t

cdef enum:
    NODES_ALONE = 1024      # of the leader before the first helper starts: a millisecond

cdef struct Helper:
    Solver solver
    Thread thread
    bint attacking          # arguments of search_root
    int remaining


cdef void run_helper(void *argument) noexcept nogil:
    cdef Helper *helper = <Helper *>argument
    cdef Solver *s = &helper.solver
    search_root(s, helper.attacking, helper.remaining)
    if s.stack[s.base].result.pn == 0 or s.stack[s.base].result.dn == 0:
        store_word(&s.shared.finished, 1)
    count_in_word(&s.shared.nodes, load_word(&s.nodes) - s.reported)
    end_thread(&helper.thread)


cdef Helper *idle_helper(Solver *s) except NULL:
    """Return the memory of the leader's next helper. MemoryError."""
    cdef Helper *helper = <Helper *>s.shared.helpers[s.helpers]
    if helper == NULL:
        helper = <Helper *>allocate_zeroed(1, sizeof(Helper))
        if helper == NULL:
            raise MemoryError("no memory for a mate search")
        s.shared.helpers[s.helpers] = helper
    if helper.solver.children == NULL:
        free_solver(&helper.solver)     # what was allocated before memory was short
        allocate_solver(&helper.solver)
    return helper


cdef int prepare_helper(Solver *s, Helper *helper) except -1:
    """Copy the leader's root to the helper."""
    cdef Solver *other = &helper.solver
    cdef int _
    copy_position(&other.pos, &s.pos, 2 * MAX_MATE_PLY)
    for _ in range(s.depth - s.base):
        undo_move(&other.pos)
    other.table, other.shared, other.stop, other.leader_nodes = s.table, s.shared, s.stop, &s.nodes
    other.base, other.attacker, other.salt = s.base, s.attacker, s.salt
    other.count_all_interpositions, other.node_limit = s.count_all_interpositions, s.node_limit
    other.together = True
    store_word(&other.nodes, 0)
    other.expanded = other.reported = other.next_check = other.settled_seen = 0
    helper.attacking = s.stack[s.base].attacking
    helper.remaining = s.stack[s.base].remaining
    return 0


cdef bint start_helper(Solver *s) noexcept with gil:
    """Start the leader's next helper; return False if memory or the system does not allow one."""
    cdef Helper *helper
    try:
        helper = idle_helper(s)
        prepare_helper(s, helper)
    except MemoryError:
        return False
    if not start_thread(&helper.thread, run_helper, helper):
        return False
    s.helpers += 1
    return True


cdef void begin_together(Solver *s) noexcept nogil:
    """Let the leader's line be seen by helpers."""
    cdef int depth
    s.together = s.table.shared = True
    for depth in range(s.base, s.depth + 1):
        enter_node(s.shared, s.stack[depth].key, s.stack[depth].hand)


cdef void dismiss_helpers(Solver *s) noexcept nogil:
    """Stop the helpers and wait for them; add their nodes to the leader's."""
    cdef int i
    cdef Helper *helper
    cdef uint64_t made
    store_word(&s.shared.finished, 1)
    for i in range(s.helpers):
        helper = <Helper *>s.shared.helpers[i]
        join_thread(&helper.thread)
        s.expanded += helper.solver.expanded
    made = load_word(&s.shared.nodes)
    store_word(&s.shared.nodes, 0)
    add_to_word(&s.nodes, made)
    store_word(&s.shared.finished, 0)
    store_word(&s.shared.settled, 0)
    s.helpers = 0
    s.elsewhere = s.settled_seen = 0
    s.together = s.table.shared = False


cdef PnResult prove(Solver *s, bint attacking, int remaining) noexcept nogil:
    cdef PnResult result
    s.stopped = False
    if root_is_solved(s, remaining, &result):
        return result
    s.alone_until = load_word(&s.nodes) + NODES_ALONE
    search_root(s, attacking, remaining)
    while s.paused:
        if not s.together:
            begin_together(s)
        if not start_helper(s):
            store_word(&s.shared.wanted, 1 + s.helpers)
        s.paused = False
        search_loop(s)
    s.alone_until = <uint64_t>-1    # other searches are the leader's alone
    result = s.stack[s.base].result
    if s.together:
        dismiss_helpers(s)
        if root_is_solved(s, remaining, &result):
            s.stopped = False
    return result


cdef void free_helpers(Solver *s) noexcept nogil:
    cdef int i
    cdef Helper *helper
    for i in range(MAX_HELPERS):
        helper = <Helper *>s.shared.helpers[i]
        if helper != NULL:
            free_solver(&helper.solver)
            free_thread(&helper.thread)
            free(helper)
