"""Mating lines: the line of the proof itself, or the shortest mate against the longest defence."""

from libc.string cimport memcpy

from core_ext.base.atomic cimport add_to_word, load_word
from core_ext.base.stop cimport Stop, clear_stop
from core_ext.mate.dfpn cimport search_root, shortest_mate_child
from core_ext.mate.mate_in_one cimport mate_in_one, mate_in_three
from core_ext.shogi.movegen cimport generate_evasions
from core_ext.shogi.position cimport undo_move
from core_ext.mate.proof_table cimport PnResult, UNLIMITED
from core_ext.mate.solver cimport Child, make_move, MAX_MATE_PLY, Solver
from core_ext.mate.team cimport prove
from core_ext.shogi.types cimport MAX_MOVES, Move, NO_MOVE, uint64_t

cdef enum:
    EXTRA_NODES = 100000    # after the proof, for a shortest mate or a line without repetition
    GRACE = 50000           # after the proof, for its line
    MAX_ESCAPES = 4         # escape squares after the first check of a mate in three


cdef int shortest_mate(Solver *s, bint attacking, int length) noexcept nogil:
    """Return the length of the shortest mate found, given that there is one of `length`; it may be longer than the
    shortest one if the search is stopped.
    """
    cdef PnResult result
    while length > 1:
        result = prove(s, attacking, length - 2)
        if result.pn:
            break
        length = result.length
    return length


cdef Move shortest_attack(Solver *s, int remaining, int base) noexcept nogil:
    """Return the check with the shortest proved mate that repeats no position of the last `base` plies, or NO_MOVE."""
    cdef Child *best
    s.base = base
    search_root(s, True, remaining)
    s.base = 0
    best = shortest_mate_child(s, s.stack + base)
    return NO_MOVE if best == NULL else best.move


cdef uint64_t limit_soon(Solver *s) noexcept nogil:
    """Lower the node limit to EXTRA_NODES from now; return the former one."""
    cdef uint64_t limit = s.node_limit, soon = load_word(&s.nodes) + EXTRA_NODES
    s.node_limit = min(limit, soon) if limit else soon
    return limit


cdef Move attack_without_repetition(Solver *s, int played) noexcept nogil:
    """Return a check that mates without returning to the line of `played` plies, if that is soon found, or NO_MOVE."""
    cdef uint64_t limit = limit_soon(s)
    cdef Move move = shortest_attack(s, UNLIMITED, played)
    s.node_limit = limit
    return move


cdef Move attack_of_line(Solver *s, int played) noexcept nogil:
    """Return the check that continues the line of a proof, of `played` plies.

    Stored lengths may disagree after a garbage collection, so that the line runs into a repetition; prefer a check
    without one.
    """
    cdef Move move = mate_in_one(&s.pos), repeating
    if not move and played:
        move = attack_without_repetition(s, played)
    if move:
        return move
    repeating = shortest_attack(s, UNLIMITED, 0)    # searches again for a proof that the table has dropped
    if repeating and played:
        move = attack_without_repetition(s, played)
    return move if move else repeating


cdef Move longest_defence(Solver *s, int *most) noexcept nogil:
    """Return the evasion with the longest mate that is soon found, or NO_MOVE if there is no evasion.

    `most` is the greatest length by the line so far, and is lowered to that of the mate. A longer one comes from a
    proof with fewer pieces in hand, and the mate may really be short.
    """
    cdef uint64_t limit = limit_soon(s)
    cdef Child *best
    search_root(s, False, UNLIMITED)
    s.node_limit = limit
    best = longest_mate_child(s, most[0])
    if best == NULL and s.stack[0].count:
        search_root(s, False, UNLIMITED)
        best = longest_mate_child(s, most[0])
    if best == NULL:
        return NO_MOVE
    most[0] = min(most[0], best.result.length)
    return best.move


cdef Child *longest_mate_child(Solver *s, int most) noexcept nogil:
    """Return the longest mate known among the children of stack[0], if possible of at most `most` plies, or NULL."""
    cdef int i, length, longest = -1
    cdef Child *best = NULL
    cdef Child *child
    for i in range(s.stack[0].count):
        child = s.children + i
        if child.waiting or child.result.pn:
            continue
        length = child.result.length if child.result.length <= most else 0
        if length > longest:
            longest = length
            best = child
    return best


cdef Move exact_defence(Solver *s, int remaining) noexcept nogil:
    """Return an evasion after which the shortest mate takes remaining - 1 plies, or NO_MOVE if all are futile."""
    cdef int i
    if remaining:
        search_root(s, False, remaining - 2)
        for i in range(s.stack[0].count):
            if s.children[i].result.dn == 0:
                return s.children[i].move
    return NO_MOVE


cdef Move known_defence(Solver *s, int remaining) noexcept nogil:
    """Return the evasion with the longest mate known within remaining - 1 plies; NO_MOVE if all are futile."""
    cdef Child *best
    search_root(s, False, remaining)
    best = longest_mate_child(s, UNLIMITED)
    return best.move if best != NULL and best.result.length > 0 else NO_MOVE


cdef int mating_line(Solver *s, Move *line, int remaining, int begun, bint shortest) noexcept nogil:
    """Continue a line after `begun` moves by a mate of `remaining` plies, or fewer if it is not known to be `shortest`;
    return its length, 0 if stopped.
    """
    cdef int length = begun, _
    cdef Move move
    while length < MAX_MATE_PLY:
        if length % 2 == 0:
            move = mate_in_one(&s.pos)
            if not move:
                move = shortest_attack(s, remaining, 0)
        else:
            move = exact_defence(s, remaining) if shortest else known_defence(s, remaining)
        remaining -= 1
        if move == NO_MOVE or s.stopped:
            break
        line[length] = move
        length += 1
        make_move(s, move, False)
    for _ in range(begun, length):
        undo_move(&s.pos)
    return length if length % 2 and not s.stopped else 0


cdef const Stop *lift_limits(Solver *s, Stop *never) noexcept nogil:
    """Allow GRACE more nodes beyond the limits; return the former stop flag."""
    cdef const Stop *stop = s.stop
    clear_stop(never)
    s.stop = never
    s.node_limit = load_word(&s.nodes) + GRACE
    return stop


cdef int extend_line(Solver *s, Move *line, int length, int *most) noexcept nogil:
    """Add moves of the proof, which are also made on the board, until mate or a stop; return the new length.

    `most` is the length that the rest of the line has at most; it is updated.
    """
    cdef Move move
    while length < MAX_MATE_PLY:
        move = longest_defence(s, most) if length % 2 else attack_of_line(s, length)
        if move == NO_MOVE:
            break
        most[0] -= 1
        line[length] = move
        length += 1
        make_move(s, move, False)
    return length


cdef int proved_line(Solver *s, Move *line, int begun, int most) noexcept nogil:
    """Continue a line after `begun` moves with the proof, at most `most` plies; return its length, or 0 at a limit.

    Parts that the table has dropped are searched again. After a limit GRACE nodes are left, which are enough if little
    was dropped.
    """
    cdef Move moves[MAX_MOVES]
    cdef uint64_t limit = s.node_limit
    cdef const Stop *stop
    cdef Stop never
    cdef int length, _
    cdef bint mated
    length = extend_line(s, line, begun, &most)
    stop = lift_limits(s, &never)
    length = extend_line(s, line, length, &most)
    s.stop = stop
    s.node_limit = limit
    mated = length % 2 and generate_evasions(&s.pos, moves, True) == moves
    for _ in range(begun, length):
        undo_move(&s.pos)
    return length if mated else 0


cdef bint find_short_mate(Solver *s, Solution *solution, int aim) noexcept nogil:
    """Find a mate in one or three without the table."""
    cdef uint64_t made = 0
    cdef bint found
    solution.line[0] = mate_in_one(&s.pos)
    solution.length = solution.line[0] != NO_MOVE
    solution.shortest = solution.length == 1
    if solution.shortest:
        return True
    # If futile interpositions do not count, a mate in three may really be a mate in one.
    if aim != AIM_FIRST and not s.count_all_interpositions:
        return False
    found = mate_in_three(&s.pos, MAX_ESCAPES, solution.line, &made)
    add_to_word(&s.nodes, made)
    if not found:
        return False
    solution.length = 3
    solution.shortest = s.count_all_interpositions
    return True


cdef int line_in_spite_of_limits(Solver *s, Move *line, int plies) noexcept nogil:
    """Return the length of the line of a mate in at most `plies`, found before a limit; 0 if parts were dropped."""
    cdef Stop never
    cdef const Stop *stop = lift_limits(s, &never)
    plies = mating_line(s, line, plies, 0, False)
    s.stop = stop
    return plies


cdef void shorten(Solver *s, Solution *solution, int aim, uint64_t limit, int longest) noexcept nogil:
    """Replace the line by a shortest mate of at most `longest` plies, within the nodes that aim and limit allow."""
    cdef Move line[MAX_MATE_PLY]
    cdef int plies
    cdef bint shortest
    if aim == AIM_SHORTER:
        s.node_limit = load_word(&s.nodes) * 2 + EXTRA_NODES
    if limit and (aim == AIM_SHORTEST or limit < s.node_limit):
        s.node_limit = max(limit, load_word(&s.nodes) + 1)
    plies = shortest_mate(s, True, longest)
    shortest = not s.stopped
    if shortest:
        plies = mating_line(s, line, plies, 0, True)
    elif plies < solution.length:
        plies = line_in_spite_of_limits(s, line, plies)
    else:
        return
    if plies:
        memcpy(solution.line, line, plies * sizeof(Move))
        solution.length = plies
        solution.shortest = shortest


cdef int solve(Solver *s, Solution *solution, int aim) noexcept nogil:
    cdef uint64_t limit = s.node_limit
    cdef PnResult result
    if find_short_mate(s, solution, aim):
        return SOLVED_MATE
    result = prove(s, True, UNLIMITED)
    if result.pn:
        return SOLVED_NO_MATE if result.dn == 0 else UNSOLVED
    solution.length = proved_line(s, solution.line, 0, result.length)
    if solution.length and aim != AIM_FIRST:
        shorten(s, solution, aim, limit, result.length)
    return SOLVED_MATE if solution.length else UNSOLVED


# ---- one check of the attacker ----

cdef int solve_check(Solver *s, Solution *solution, Move check) noexcept nogil:
    cdef PnResult result
    cdef Move line[MAX_MATE_PLY]
    cdef int plies
    solution.line[0] = line[0] = check
    solution.length = 0
    solution.shortest = False
    make_move(s, check, False)
    result = prove(s, False, UNLIMITED)
    if result.pn == 0:
        solution.length = proved_line(s, solution.line, 1, result.length)
    if solution.length:
        s.node_limit = load_word(&s.nodes) * 2 + EXTRA_NODES
        plies = shortest_mate(s, False, result.length)
        plies = 0 if s.stopped else mating_line(s, line, plies, 1, True)
        if plies:
            memcpy(solution.line, line, plies * sizeof(Move))
            solution.length = plies
            solution.shortest = True
    undo_move(&s.pos)
    if solution.length:
        return SOLVED_MATE
    return SOLVED_NO_MATE if result.dn == 0 else UNSOLVED
