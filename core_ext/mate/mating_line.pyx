"""From proofs to the line to print: the proof's own, or the shortest mate against the longest defence."""

from libc.string cimport memcpy

from core_ext.base.stop cimport Stop, clear_stop
from core_ext.mate.dfpn cimport Child, MAX_FRAMES, Solver, UNLIMITED, explore, make, prove
from core_ext.mate.mate_in_one cimport mate_in_one, mate_in_three
from core_ext.shogi.movegen cimport generate_evasions
from core_ext.shogi.position cimport undo_move
from core_ext.mate.proof_table cimport Verdict
from core_ext.shogi.types cimport MAX_MOVES, Move, NO_MOVE, uint64_t

cdef enum:
    SPARE_NODES = 100000    # that a shortest mate, or a way that does not go back, may cost beyond the proof
    FLIGHTS = 4             # that a first check leaves the king, for a fixed look three plies deep


cdef int shortest_mate(Solver *s, int longest) noexcept nogil:
    """The least number of plies within which there is a mate; `longest` is enough for one. 0 where stopped."""
    cdef int plies
    for plies in range(1, longest + 1, 2):
        if prove(s, True, plies, 0).pn == 0:
            return plies
        if s.stopped:
            return 0
    return 0


cdef Move shortest_attack(Solver *s, int remaining, int base) noexcept nogil:
    """The check with the shortest mate known that does not go back to a position of the last `base` plies."""
    cdef int i
    cdef Child *best = NULL
    cdef Child *child
    s.base = base
    explore(s, True, remaining, 0)
    s.base = 0
    for i in range(s.frames[base].count):
        child = s.children + i
        if child.verdict.pn == 0 and (best == NULL or child.verdict.length < best.verdict.length):
            best = child
    return NO_MOVE if best == NULL else best.move


cdef Move attack_of_line(Solver *s, int remaining, int played) noexcept nogil:
    """The check that goes on with a line of `played` plies.

    Where parts of the proof were forgotten and found again, lengths need not agree, and a line may come back to where
    it was; it goes back only where it must.
    """
    cdef Move move = mate_in_one(&s.pos)
    if not move and played and remaining == UNLIMITED:
        s.node_limit = s.nodes + SPARE_NODES
        move = shortest_attack(s, remaining, played)
        s.node_limit = 0
        s.stopped = False
    return move if move else shortest_attack(s, remaining, 0)


cdef Move longest_defence(Solver *s) noexcept nogil:
    """The answer whose mate is the longest known, or NO_MOVE where there is none."""
    cdef int i
    cdef Child *best = NULL
    cdef Child *child
    explore(s, False, UNLIMITED, 0)
    for i in range(s.frames[0].count):
        child = s.children + i
        if best == NULL or child.verdict.length > best.verdict.length:
            best = child
    return NO_MOVE if best == NULL else best.move


cdef Move exact_defence(Solver *s, int *remaining) noexcept nogil:
    """The answer that takes the most plies to mate, with `remaining` set to them; NO_MOVE where all are useless."""
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *last = generate_evasions(&s.pos, moves, True)
    cdef Move best = NO_MOVE
    cdef int plies, most = 0
    while move != last:
        make(s, move[0], False)
        plies = shortest_mate(s, remaining[0] - 1)
        undo_move(&s.pos)
        if plies > most:
            most = plies
            best = move[0]
        move += 1
    remaining[0] = most
    return best


cdef int mating_line(Solver *s, Move *line, int room, int remaining) noexcept nogil:
    cdef int length = 0, plies = remaining, _
    cdef Move move
    while length < room:
        if length % 2 == 0:
            move = attack_of_line(s, plies, length)
            plies -= remaining != UNLIMITED
        else:
            move = longest_defence(s) if remaining == UNLIMITED else exact_defence(s, &plies)
        if move == NO_MOVE or s.stopped:
            break
        line[length] = move
        length += 1
        make(s, move, False)
    for _ in range(length):
        undo_move(&s.pos)
    return length if length % 2 and not s.stopped else 0


cdef int proved_line(Solver *s, Move *line, int room) noexcept nogil:
    """The line of the proof itself; it is put together whatever the stop says, for it is short work."""
    cdef const Stop *stop = s.stop
    cdef Stop never
    cdef int length
    clear_stop(&never)
    s.stop = &never
    s.node_limit = 0
    length = mating_line(s, line, room, UNLIMITED)
    s.stop = stop
    return length


cdef int solve(Solver *s, Solution *solution, int aim) noexcept nogil:
    cdef Move line[MAX_FRAMES]
    cdef uint64_t limit = s.node_limit
    cdef Verdict verdict
    cdef int plies
    solution.line[0] = mate_in_one(&s.pos)
    solution.length = solution.line[0] != NO_MOVE
    solution.shortest = solution.length == 1
    if solution.shortest:
        return SOLVED_MATE
    # With useless interpositions left out of the count the mate may be shorter still.
    if (aim == AIM_FIRST or s.count_useless) and mate_in_three(&s.pos, FLIGHTS, solution.line, &s.nodes):
        solution.length = 3
        solution.shortest = s.count_useless
        return SOLVED_MATE
    verdict = prove(s, True, UNLIMITED, 0)
    if verdict.pn:
        return SOLVED_NO_MATE if verdict.dn == 0 else SOLVED_UNKNOWN
    solution.length = proved_line(s, solution.line, MAX_FRAMES)
    if aim == AIM_SHORTER:
        s.node_limit = s.nodes * 2 + SPARE_NODES
    if limit and (aim == AIM_SHORTEST or limit < s.node_limit):
        s.node_limit = max(limit, s.nodes + 1)
    plies = shortest_mate(s, verdict.length) if aim != AIM_FIRST else 0
    plies = mating_line(s, line, MAX_FRAMES, plies) if plies else 0
    if plies:
        memcpy(solution.line, line, plies * sizeof(Move))
        solution.length = plies
        solution.shortest = True
    return SOLVED_MATE if solution.length else SOLVED_UNKNOWN
