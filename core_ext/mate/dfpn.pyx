"""Depth-first proof-number search (df-pn; A. Nagai, 2002) for mates by checks.

Extensions of the plain algorithm:
- 1 + epsilon thresholds, epsilon 3/16 (J. Pawlewicz and L. Lew, 2007), to switch less often between siblings.
- Dominance by pieces in hand: a proof is stored with its proof pieces, a disproof with its disproof pieces; an unsolved
  node's numbers are at least the pn of the same board with more pieces and the dn with fewer (as in KomoringHeights).
- A repetition counts as no mate. A disproof that depends on a repetition is stored only for its path (A. Kishimoto and
  M. Mueller, 2004), which solves the graph history interaction problem. A proof never depends on one.
  Repetitions are no mates in length-limited searches either: a shortest mate repeats no position.
- Nearly equal moves (promotion or not, of a piece that rarely loses by it; interposing drops on one square, or on
  squares without support) form a group. Each waits until the one before it is settled (as in KomoringHeights 1.1), so
  that sums are not overestimated.
- Initial proof and disproof numbers: see mate.solver.

Nagai's phi is pn at an OR node and dn at an AND node; delta is the other one. A node's phi is the least delta of its
children. Its delta is the sum of their phis at an AND node. At an OR node it is the greatest phi and the bit length of
each other child's phi (a constant in weak proof numbers; T. Ueda, T. Hashimoto, J. Hashimoto and H. Iida, 2008): a sum
would double-count positions that several checks lead to. A search for a mate within some plies mostly has to disprove
every check: it takes the greatest phi and half the sum of the others.
"""

from core_ext.base.atomic cimport count_in_word, load_word
from core_ext.base.stop cimport next_check, past_deadline, stop_requested
from core_ext.shogi.bitboard cimport Bitboard, empty, has, lowest
from core_ext.shogi.hand cimport hand_covers
from core_ext.shogi.movegen cimport generate_checks, generate_evasions, is_legal
from core_ext.shogi.position cimport (
    attacked, board_key_after, hand_of, occupied, SEEN_SLOTS, to_move32, undo_move,
)
from core_ext.mate.proof_pieces cimport (
    both_hands, clip_disproof_hand, disproof_hand_before, hand_max, hand_min, interposition_squares,
    proof_hand_before, with_exclusive_types,
)
from core_ext.mate.proof_table cimport (
    PATH_INDEPENDENT, PnResult, PROOF_INFINITE, proof_table_prefetch, proof_table_probe, proof_table_store, UNLIMITED,
)
from core_ext.mate.shared cimport enter_node, leave_node, threads_inside
from core_ext.mate.solver cimport (
    Child, disproved, extend_path, hand_after, initial_and_node, initial_or_node, KEPT, make_move, MAX_CHILDREN,
    MAX_MATE_PLY, node_key, PnNode, proved, RETURNED, Solver, unsolved,
)
from core_ext.shogi.types cimport *


cdef int repeated_depth(const Solver *s, uint64_t board_key, Hand hand) noexcept nogil:
    """Return the depth of an earlier position with this board whose attacker's hand covers `hand`, or -1."""
    cdef int plies
    if s.pos.seen[board_key & (SEEN_SLOTS - 1)] == 0:
        return -1
    for plies in range(3, s.depth + 1, 2):
        if (s.pos.state - plies).board_key == board_key and hand_covers((s.pos.state - plies).hand[s.attacker], hand):
            return s.depth - plies
    return -1


# ---- expanding a node ----

cdef PnResult initial_result(Solver *s, const PnNode *node, const Child *child, uint64_t path_key) noexcept nogil:
    cdef PnResult bound, result
    if proof_table_probe(s.table, child.key, child.hand, child.remaining, path_key, &bound):
        return bound
    make_move(s, child.move, child.futile == RETURNED)
    if node.attacking:
        result = initial_and_node(s, child.remaining)
    else:
        result = initial_or_node(s, child.remaining, child.blocked_slider)
    undo_move(&s.pos)
    proof_table_store(s.table, child.key, child.hand, path_key, &result, 0)
    if result.pn and result.dn:
        return unsolved(max(result.pn, bound.pn), max(result.dn, bound.dn), child.remaining)
    return result


cdef void add_child(Solver *s, PnNode *node, Move move, int blocked_slider, int futile) noexcept nogil:
    cdef Child *child = s.children + node.first + node.count
    child.move = move
    child.futile = <uint8_t>futile
    child.blocked_slider = <uint8_t>blocked_slider
    child.remaining = node.remaining
    if node.remaining != UNLIMITED:
        child.remaining = 0 if futile else node.remaining - 1
    join_group(s, node, child)
    node.count += 1
    if not child.waiting:
        evaluate_child(s, node, child)


cdef void evaluate_child(Solver *s, const PnNode *node, Child *child) noexcept nogil:
    """Set the child's key, hand and first result."""
    cdef Move32 move32 = to_move32(&s.pos, child.move)
    cdef uint64_t board_key = board_key_after(&s.pos, move32)
    cdef int depth
    child.hand = node.hand if child.futile == RETURNED else hand_after(s, move32, node.attacking)
    child.key = node_key(s, board_key, child.blocked_slider)
    if not child.blocked_slider:    # it adds captures to the moves of the earlier position
        depth = repeated_depth(s, board_key, child.hand)
        if depth >= 0:
            child.result = disproved(child.hand, UNLIMITED, depth)
            return
    child.result = initial_result(s, node, child, extend_path(node.path_key, child.key, child.hand))


cdef inline bint may_wait(const Solver *s, const PnNode *node, Move move) noexcept nogil:
    """Return whether the move is a drop of the defender, or one of a pair of which movegen calls one dominated. The
    choice of promotion decides for other pieces too often.
    """
    cdef int piece_type
    if is_drop(move):
        return not node.attacking
    piece_type = type_of(s.pos.board[from_square(move)])
    if piece_type == LANCE:
        return relative_rank(s.pos.side, to_square(move)) == 1
    return piece_type == PAWN or piece_type == BISHOP or piece_type == ROOK


cdef void join_group(Solver *s, PnNode *node, Child *child) noexcept nogil:
    """Find the last child of the move's group and let the move wait for it."""
    cdef int i
    cdef Move other, move = child.move
    cdef bint alike
    child.previous = -1
    child.waiting = child.unsupported = False
    if not may_wait(s, node, move):
        return
    child.unsupported = is_drop(move) and not attacked(&s.pos, to_square(move), s.attacker ^ 1, occupied(&s.pos))
    for i in range(node.first, node.first + node.count):
        other = s.children[i].move
        alike = is_drop(other) if is_drop(move) else from_square(other) == from_square(move)
        if (alike and to_square(other) == to_square(move)) or (child.unsupported and s.children[i].unsupported):
            child.previous = i
    child.waiting = child.previous >= 0 and not is_settled(node, s.children + child.previous)
    if child.waiting:
        child.result = unsolved(PROOF_INFINITE, 0, 0) if node.attacking else unsolved(0, PROOF_INFINITE, 0)
        node.waiting += 1


cdef inline bint is_settled(const PnNode *node, const Child *child) noexcept nogil:
    """Return whether the node is solved only by its other children: a failed check, or an answered evasion."""
    return not child.waiting and child_phi(node, &child.result) == 0


cdef void end_waiting(Solver *s, PnNode *node) noexcept nogil:
    """Evaluate the children whose predecessors are settled."""
    cdef int i
    cdef Child *child
    for i in range(node.first, node.first + node.count):
        child = s.children + i
        if child.waiting and is_settled(node, s.children + child.previous):
            child.waiting = False
            node.waiting -= 1
            evaluate_child(s, node, child)


cdef void add_futile_captures(Solver *s, PnNode *node) noexcept nogil:
    """Add captures of the interposed piece by the slider: if one mates at once, the interposition was futile."""
    cdef int origin = node.blocked_slider - 1, target = to_square(s.pos.state.move)
    cdef int futile = RETURNED if is_drop(s.pos.state.move) else KEPT
    if is_legal(&s.pos, board_move(origin, target)):
        add_child(s, node, board_move(origin, target), 0, futile)
    if is_legal(&s.pos, promotion_move(origin, target)):
        add_child(s, node, promotion_move(origin, target), 0, futile)


cdef void prefetch_children(Solver *s, const Move *move, const Move *last) noexcept nogil:
    """Prefetch the entries of the children, except those that have blocked a slider."""
    while move != last:
        proof_table_prefetch(s.table, node_key(s, board_key_after(&s.pos, to_move32(&s.pos, move[0])), 0))
        move += 1


cdef void expand(Solver *s, PnNode *node) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *last = moves
    cdef int slider = 0
    cdef Bitboard between = empty()
    node.count = node.waiting = 0
    if not node.attacking:
        last = generate_evasions(&s.pos, moves, True)
        if node.remaining != UNLIMITED and not s.count_all_interpositions:
            between = interposition_squares(&s.pos)
            slider = 1 + lowest(s.pos.state.checkers)
    elif node.remaining >= 1:
        last = generate_checks(&s.pos, moves, True)
    prefetch_children(s, moves, last)
    while move != last:
        add_child(s, node, move[0], slider if has(between, to_square(move[0])) else 0, 0)
        if solves_node(node, &s.children[node.first + node.count - 1].result):
            return
        move += 1
    if node.blocked_slider:
        add_futile_captures(s, node)


cdef inline bint solves_node(const PnNode *node, const PnResult *result) noexcept nogil:
    """Return whether this result of one child solves the node for good."""
    if node.attacking:
        return result.pn == 0 and result.length == 0
    return result.dn == 0 and result.repetition_depth == PATH_INDEPENDENT


# ---- results of a node from its children ----

cdef inline uint32_t child_delta(const PnNode *node, const PnResult *result) noexcept nogil:
    return result.pn if node.attacking else result.dn


cdef inline uint32_t child_phi(const PnNode *node, const PnResult *result) noexcept nogil:
    return result.dn if node.attacking else result.pn


cdef inline uint32_t bit_length(uint32_t number) noexcept nogil:
    cdef uint32_t length = 0
    while number:
        number >>= 1
        length += 1
    return length


cdef uint32_t delta_of(const Solver *s, PnNode *node) noexcept nogil:
    """Return the node's delta, 0 if all children are settled; set node.others. A child must be chosen."""
    cdef uint64_t total = 0
    cdef uint32_t most = 0, lengths = 0, phi, chosen = child_phi(node, &s.children[node.chosen].result)
    cdef int i
    for i in range(node.first, node.first + node.count):
        phi = child_phi(node, &s.children[i].result)
        most = max(most, phi)
        total += phi
        lengths += bit_length(phi)
    if node.attacking and node.remaining == UNLIMITED:
        node.others = lengths - min(bit_length(chosen), lengths)    # without children `chosen` is any number
        return min(most + node.others, <uint32_t>(PROOF_INFINITE - 1))
    if node.attacking:
        total = most + (total - most) // 2
    total = min(total, <uint64_t>(PROOF_INFINITE - 1))
    node.others = <uint32_t>total - min(chosen, <uint32_t>total)
    return <uint32_t>total


cdef uint32_t select_child(Solver *s, PnNode *node, uint32_t *min_delta) noexcept nogil:
    """Choose the child with the least delta, then the least phi; return the second least delta."""
    cdef uint32_t best = PROOF_INFINITE, second_delta = PROOF_INFINITE, number
    cdef uint32_t best_phi = PROOF_INFINITE
    cdef int i
    node.chosen = node.first
    for i in range(node.first, node.first + node.count):
        number = child_delta(node, &s.children[i].result)
        if number < best or (number == best and child_phi(node, &s.children[i].result) < best_phi):
            if number < best:
                second_delta = best
            best = number
            best_phi = child_phi(node, &s.children[i].result)
            node.chosen = i
        elif number < second_delta:
            second_delta = number
    min_delta[0] = best
    return second_delta


cdef inline int plies_to_mate(const Child *child) noexcept nogil:
    """Return the length of a mate that begins with this proved check; the capture of a futile interposition takes back
    both plies.
    """
    return -1 if child.futile else child.result.length + 1


cdef inline int plies_without_mate(const Child *child) noexcept nogil:
    """Return the length within which a mate by this disproved move is excluded."""
    return UNLIMITED if child.futile or child.result.length >= UNLIMITED else child.result.length + 1


cdef Child *shortest_mate_child(Solver *s, const PnNode *node) noexcept nogil:
    cdef int i
    cdef Child *best = NULL
    cdef Child *child
    for i in range(node.first, node.first + node.count):
        child = s.children + i
        if child.result.pn == 0 and (best == NULL or plies_to_mate(child) < plies_to_mate(best)):
            best = child
    return best


cdef PnResult or_node_proof(Solver *s, const PnNode *node) noexcept nogil:
    cdef Child *best = shortest_mate_child(s, node)
    cdef Hand hand = best.result.hand
    if best.futile != RETURNED:
        hand = proof_hand_before(hand, to_move32(&s.pos, best.move))
    return proved(hand, plies_to_mate(best))


cdef PnResult and_node_proof(Solver *s, const PnNode *node) noexcept nogil:
    cdef int i, length = 0
    cdef Hand hand = 0
    for i in range(node.first, node.first + node.count):
        hand = hand_max(hand, s.children[i].result.hand)
        length = max(length, s.children[i].result.length + 1)
    return proved(with_exclusive_types(&s.pos, s.attacker, hand), length)


cdef inline PnResult disproved_above(const Solver *s, Hand hand, int length, int repetition_depth) noexcept nogil:
    """Return a disproof of the current node; it depends on the path only if an earlier position is repeated."""
    return disproved(hand, length, repetition_depth if repetition_depth < s.depth else PATH_INDEPENDENT)


cdef PnResult or_node_disproof(Solver *s, const PnNode *node) noexcept nogil:
    cdef int i, repetition_depth = PATH_INDEPENDENT, length = UNLIMITED if node.remaining >= 1 else node.remaining
    cdef Hand hand = both_hands(&s.pos), allowed
    cdef Child *child
    for i in range(node.first, node.first + node.count):
        child = s.children + i
        allowed = child.result.hand
        if child.futile != RETURNED:
            allowed = disproof_hand_before(allowed, to_move32(&s.pos, child.move))
        hand = hand_min(hand, allowed)
        repetition_depth = min(repetition_depth, child.result.repetition_depth)
        length = min(length, plies_without_mate(child))
    return disproved_above(s, clip_disproof_hand(&s.pos, s.attacker, hand), length, repetition_depth)


cdef PnResult and_node_disproof(Solver *s, const PnNode *node) noexcept nogil:
    """Choose the disproved child with the latest repetition, or without one; then the greatest length."""
    cdef int i, rank, most = -1
    cdef Child *best = NULL
    cdef Child *child
    for i in range(node.first, node.first + node.count):
        child = s.children + i
        rank = child.result.repetition_depth << 15 | (child.result.length + 1)
        if child.result.dn == 0 and rank > most:
            most = rank
            best = child
    return disproved_above(s, hand_min(best.result.hand, both_hands(&s.pos)), plies_without_mate(best),
                           best.result.repetition_depth)


cdef uint32_t update_node(Solver *s, PnNode *node) noexcept nogil:
    """Set the node's result and the child to search; return the second least delta."""
    cdef uint32_t best, second_delta, total
    cdef bint attacking = node.attacking
    if node.waiting:
        end_waiting(s, node)
    second_delta = select_child(s, node, &best)
    if best == 0:
        node.result = or_node_proof(s, node) if attacking else and_node_disproof(s, node)
        return second_delta
    total = delta_of(s, node)
    if total == 0:
        node.result = or_node_disproof(s, node) if attacking else and_node_proof(s, node)
    else:
        node.result = unsolved(best, total, node.remaining) if attacking else unsolved(total, best, node.remaining)
    return second_delta


# ---- the search, on an explicit stack ----

cdef inline uint32_t child_threshold(uint32_t limit, uint32_t others) noexcept nogil:
    """Return the phi of a child at which the node's delta reaches `limit`."""
    return limit if limit >= PROOF_INFINITE else limit - min(others, limit)


cdef void push_node(Solver *s, int attacking, uint64_t key, uint64_t path_key, Hand hand, int remaining,
                    int blocked_slider) noexcept nogil:
    """Push a node for the position on the board and expand it."""
    cdef PnNode *node = s.stack + s.depth
    if s.together:
        enter_node(s.shared, key, hand)
    node.key = key
    node.path_key = path_key
    node.hand = hand
    node.remaining = remaining
    node.blocked_slider = blocked_slider
    node.attacking = attacking
    node.nodes_before = load_word(&s.nodes)
    s.expanded += 1
    node.thpn = node.thdn = PROOF_INFINITE
    node.first = 0 if s.depth == s.base else s.stack[s.depth - 1].first + s.stack[s.depth - 1].count
    expand(s, node)


cdef void push_child(Solver *s, PnNode *node, uint32_t second_delta) noexcept nogil:
    cdef Child *child = s.children + node.chosen
    cdef PnNode *below = node + 1
    cdef uint32_t margin = min(second_delta + second_delta * 3 // 16 + 1, <uint32_t>PROOF_INFINITE)
    make_move(s, child.move, child.futile == RETURNED)
    s.depth += 1
    push_node(s, not node.attacking, child.key, extend_path(node.path_key, child.key, child.hand), child.hand,
              child.remaining, child.blocked_slider)
    if node.attacking:
        below.thpn = min(node.thpn, margin)
        below.thdn = child_threshold(node.thdn, node.others)
    else:
        below.thdn = min(node.thdn, margin)
        below.thpn = child_threshold(node.thpn, node.others)


cdef void pop_node(Solver *s, PnNode *node) noexcept nogil:
    """Store the result in the table and the parent, and unmake the move."""
    cdef bint solved = node.result.pn == 0 or node.result.dn == 0
    if s.together:
        leave_node(s.shared, node.key, node.hand)
        if solved and threads_inside(s.shared, node.key, node.hand):
            count_in_word(&s.shared.settled, 1)
    if solved or not (s.stopped or s.depth >= s.abandoned):
        proof_table_store(s.table, node.key, node.hand, node.path_key, &node.result,
                          load_word(&s.nodes) - node.nodes_before)
    if s.depth == s.base:
        return
    undo_move(&s.pos)
    s.depth -= 1
    s.children[s.stack[s.depth].chosen].result = node.result


cdef bint adopt_result(Solver *s, PnNode *node) noexcept nogil:
    """If the chosen child has since been solved on another path, or its numbers were changed by another thread, copy
    its result and return True.
    """
    cdef Child *child = s.children + node.chosen
    cdef PnResult result
    cdef uint64_t path_key = extend_path(node.path_key, child.key, child.hand)
    if not proof_table_probe(s.table, child.key, child.hand, child.remaining, path_key, &result):
        return False
    if result.pn and result.dn:
        if not s.together or (result.pn == child.result.pn and result.dn == child.result.dn):
            return False
    child.result = result
    return True


cdef uint32_t step_aside(Solver *s, PnNode *node, uint32_t second_delta) noexcept nogil:
    """If another thread is inside the chosen child, choose the best one without a thread if its delta is at most 1
    greater and within the node's threshold. Return the second least delta for push_child.
    """
    cdef Child *child = s.children + node.chosen
    cdef uint32_t delta = child_delta(node, &child.result), most = delta + 2
    cdef int i
    if not threads_inside(s.shared, child.key, child.hand):
        return second_delta
    most = min(most, node.thpn if node.attacking else node.thdn)
    for i in range(node.first, node.first + node.count):
        child = s.children + i
        delta = child_delta(node, &child.result)
        if delta < most and not threads_inside(s.shared, child.key, child.hand):
            most = delta
            node.chosen = i
            second_delta = max(second_delta, delta)
    delta_of(s, node)       # sets node.others for the child that is now chosen
    return second_delta


cdef void look_for_solved(Solver *s) noexcept nogil:
    """Find the first node of the line that another thread has solved: the search below it is useless."""
    cdef PnResult result
    cdef PnNode *node
    cdef int depth
    s.settled_seen = load_word(&s.shared.settled)
    for depth in range(s.base, s.depth + 1):
        node = s.stack + depth
        if (proof_table_probe(s.table, node.key, node.hand, node.remaining, node.path_key, &result)
                and not (result.pn and result.dn)):
            s.abandoned = depth
            return


cdef bint poll_limits(Solver *s) noexcept nogil:
    """Return whether the deadline has passed; exchange counts with the other threads; pause if more are wanted."""
    cdef uint64_t nodes = load_word(&s.nodes)
    s.next_check = next_check(nodes, 0)
    if s.leader_nodes == NULL:
        s.elsewhere = load_word(&s.shared.nodes)
        s.paused = 1 + <uint64_t>s.helpers < load_word(&s.shared.wanted) and nodes >= s.alone_until
    else:
        count_in_word(&s.shared.nodes, nodes - s.reported)
        s.reported = nodes
        s.elsewhere = load_word(s.leader_nodes) + load_word(&s.shared.nodes) - nodes
    if s.together and s.node_limit > nodes + s.elsewhere:   # near the limit the counts must be newer
        s.next_check = min(s.next_check, nodes + (s.node_limit - nodes - s.elsewhere) // 4)
    return past_deadline(s.stop)


cdef inline bint poll_stop(Solver *s, const PnNode *node) noexcept nogil:
    """Return whether to stop: read the flags at every step, the clock every CHECK_INTERVAL nodes."""
    if stop_requested(s.stop) or (s.node_limit and load_word(&s.nodes) + s.elsewhere >= s.node_limit):
        return True
    if s.together:
        if load_word(&s.shared.finished):
            return True
        if load_word(&s.shared.settled) != s.settled_seen:
            look_for_solved(s)
    if s.depth + 2 >= MAX_MATE_PLY or node.first + node.count + MAX_MOVES >= MAX_CHILDREN:
        return True
    return load_word(&s.nodes) >= s.next_check and poll_limits(s)


cdef void search_loop(Solver *s) noexcept nogil:
    """Search until the root is solved or the search is stopped or paused."""
    cdef PnNode *node
    cdef uint32_t second_delta
    while True:
        node = s.stack + s.depth
        second_delta = update_node(s, node)
        if poll_stop(s, node):
            s.stopped = True
        if s.stopped or s.depth >= s.abandoned or node.result.pn >= node.thpn or node.result.dn >= node.thdn:
            pop_node(s, node)
            if node == s.stack + s.base:
                s.paused = False
                return
            if s.depth < s.abandoned:
                s.abandoned = MAX_MATE_PLY
        elif s.paused:
            return
        else:
            if s.together:
                second_delta = step_aside(s, node, second_delta)
            if not adopt_result(s, node):
                push_child(s, node, second_delta)


cdef void search_root(Solver *s, bint attacking, int remaining) noexcept nogil:
    cdef uint64_t key = node_key(s, s.pos.state.board_key, 0)
    cdef Hand hand = hand_of(&s.pos, s.attacker)
    s.stopped = s.paused = False
    s.abandoned = MAX_MATE_PLY
    s.depth = s.base
    push_node(s, attacking, key, extend_path(<uint64_t>(s.base << 16 | remaining), key, hand), hand, remaining, 0)
    search_loop(s)


cdef bint root_is_solved(Solver *s, int remaining, PnResult *result) noexcept nogil:
    cdef uint64_t key = node_key(s, s.pos.state.board_key, 0)
    cdef Hand hand = hand_of(&s.pos, s.attacker)
    return proof_table_probe(s.table, key, hand, remaining, 0, result) and (result.pn == 0 or result.dn == 0)
