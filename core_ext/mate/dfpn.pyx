"""Depth-first proof-number search (df-pn; A. Nagai, 2002) for mates by checks.

Extensions of the plain algorithm:
- 1 + epsilon thresholds, epsilon 3/16 (J. Pawlewicz and L. Lew, 2007), to switch less often between siblings.
- Dominance by pieces in hand: a proof is stored with its proof pieces, a disproof with its disproof pieces; an unsolved
  node's numbers are at least the pn of the same board with more pieces and the dn with fewer (as in KomoringHeights).
- A repetition counts as no mate. A disproof that depends on a repetition is stored only for its path (A. Kishimoto and
  M. Mueller, 2004), which solves the graph history interaction problem. A proof never depends on one.
- Nearly equal moves (promotion or not; interposing drops on one square, or on squares without support) form a group.
  Each waits until the one before it is settled (as in KomoringHeights 1.1), so that sums are not overestimated.
- Initial proof and disproof numbers from the number of evasions, of checks and of the king's escape squares.

Nagai's phi is pn at an OR node and dn at an AND node; delta is the other one. A node's phi is the least delta of its
children. Its delta is the sum of their phis at an AND node. At an OR node it is the greatest phi and a constant for
each other child that is not settled (weak proof numbers; T. Ueda, T. Hashimoto, J. Hashimoto and H. Iida, 2008): a sum
would count positions twice that several checks lead to. A search for a mate within some plies takes the sum: it mostly
has to disprove every check.
"""

from libc.stdlib cimport free

from core_ext.base.atomic cimport add_to_word, count_in_word, load_word, store_word
from core_ext.base.memory cimport allocate
from core_ext.base.stop cimport next_check, past_deadline, stop_requested
from core_ext.shogi.bitboard cimport Bitboard, count, empty, has, lowest
from core_ext.shogi.hand cimport hand_covers, hand_one
from core_ext.mate.crowd cimport crowd_inside, enter_crowd, leave_crowd
from core_ext.mate.mate_in_one cimport mate_in_one_and_escapes
from core_ext.shogi.movegen cimport generate_checks, generate_evasions, is_legal
from core_ext.shogi.position cimport (
    allocate_position, attacked, board_key_after, copy_position, do_move, free_position, hand_of, in_check, Position,
    occupied, SEEN_SLOTS, to_move32, undo_move,
)
from core_ext.mate.proof_pieces cimport (
    both_hands, clip_disproof_hand, disproof_hand_before, hand_max, hand_min, interposition_squares,
    proof_hand_before, with_exclusive_types,
)
from core_ext.mate.proof_table cimport (
    PATH_INDEPENDENT, PnResult, PROOF_INFINITE, proof_table_prefetch, proof_table_probe, proof_table_store,
)
from core_ext.shogi.types cimport *
from core_ext.shogi.zobrist cimport zobrist

# Initial proof and disproof numbers; 2 is the weight of a node without heuristics. These and epsilon were tuned by
# random search for the fewest nodes on short problems and on 250 hard positions from games (docs/findings.md).
cdef enum:
    OR_PN = 2               # OR node: pn
    ESCAPE_PN = 1           # plus this for each escape square of the king
    CHECK_DN = 3            # dn: for each check
    EVASION_PN = 3          # AND node: pn: for each evasion by a board move
    INTERPOSITION_PN = 2    # plus this for each square of an interposing drop
    AND_DN = 2              # dn
    OTHER_CHECK = 2         # dn for each other check, beside the greatest dn


# ---- making moves ----

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


cdef void make_move(Solver *s, Move move, bint returned) noexcept nogil:
    cdef int attacker = s.attacker, piece_type
    do_move(&s.pos, move)
    add_to_word(&s.nodes, 1)
    if not returned:
        return
    piece_type = raw_type(type_of(captured_piece(s.pos.state.move)))
    s.pos.state.hand[attacker] -= hand_one(piece_type)
    s.pos.state.hand[attacker ^ 1] += hand_one(piece_type)
    s.pos.state.hand_key -= zobrist.hand[attacker][piece_type]
    s.pos.state.hand_key += zobrist.hand[attacker ^ 1][piece_type]


cdef int repeated_depth(const Solver *s, uint64_t board_key, Hand hand) noexcept nogil:
    """Return the depth of an earlier position with this board whose attacker's hand covers `hand`, or -1."""
    cdef int plies
    if s.pos.seen[board_key & (SEEN_SLOTS - 1)] == 0:
        return -1
    for plies in range(3, s.depth + 1, 2):
        if (s.pos.state - plies).board_key == board_key and hand_covers((s.pos.state - plies).hand[s.attacker], hand):
            return s.depth - plies
    return -1


# ---- initial proof and disproof numbers ----

cdef inline PnResult unsolved(uint32_t pn, uint32_t dn, int remaining) noexcept nogil:
    return PnResult(pn, dn, 0, <int16_t>remaining, PATH_INDEPENDENT)


cdef inline PnResult proved(Hand hand, int length) noexcept nogil:
    return PnResult(0, PROOF_INFINITE, hand, <int16_t>length, PATH_INDEPENDENT)


cdef inline PnResult disproved(Hand hand, int length, int repetition_depth) noexcept nogil:
    return PnResult(PROOF_INFINITE, 0, hand, <int16_t>length, <uint16_t>repetition_depth)


cdef PnResult initial_and_node(Solver *s, int remaining) noexcept nogil:
    """Return the initial result of an AND node; without check it is disproved."""
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *last
    cdef int evasions = 0, drops = 0
    cdef bint escapes = False
    cdef Bitboard between = interposition_squares(&s.pos)
    if not in_check(&s.pos):
        return disproved(hand_of(&s.pos, s.attacker), UNLIMITED, PATH_INDEPENDENT)
    last = generate_evasions(&s.pos, moves, True)
    if last == moves:
        return proved(with_exclusive_types(&s.pos, s.attacker, 0), 0)
    while move != last:
        if is_drop(move[0]):
            drops += 1
        else:
            evasions += not is_promotion(move[0])
            escapes |= not has(between, to_square(move[0]))
        move += 1
    if remaining <= 0 and (s.count_all_interpositions or escapes):
        return disproved(hand_of(&s.pos, s.attacker), remaining, PATH_INDEPENDENT)
    drops = min(drops, count(between))
    return unsolved(EVASION_PN * max(evasions, 1) + INTERPOSITION_PN * drops, AND_DN, remaining)


cdef PnResult initial_or_node(Solver *s, int remaining, int blocked_slider) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move mate
    cdef PnResult result
    cdef int checks, escapes = 0
    if remaining >= 1:
        mate = mate_in_one_and_escapes(&s.pos, &escapes)
        if mate:
            make_move(s, mate, False)
            result = proved(proof_hand_before(with_exclusive_types(&s.pos, s.attacker, 0), s.pos.state.move), 1)
            undo_move(&s.pos)
            return result
    if not blocked_slider and (remaining < 1 or (remaining == 1 and s.count_all_interpositions)):
        return disproved(hand_of(&s.pos, s.attacker), remaining, PATH_INDEPENDENT)
    checks = <int>(generate_checks(&s.pos, moves, True) - moves)
    if checks == 0 and not blocked_slider:
        return disproved(clip_disproof_hand(&s.pos, s.attacker, both_hands(&s.pos)), UNLIMITED, PATH_INDEPENDENT)
    return unsolved(OR_PN + ESCAPE_PN * escapes, CHECK_DN * max(checks, 1), remaining)


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
    if node.remaining == UNLIMITED:
        depth = repeated_depth(s, board_key, child.hand)
        if depth >= 0:
            child.result = disproved(child.hand, UNLIMITED, depth)
            return
    child.result = initial_result(s, node, child, extend_path(node.path_key, child.key, child.hand))


cdef void join_group(Solver *s, PnNode *node, Child *child) noexcept nogil:
    """Find the last child of the move's group and let the move wait for it."""
    cdef int i
    cdef Move other, move = child.move
    cdef bint interposing = is_drop(move) and not node.attacking, alike
    child.previous = -1
    child.unsupported = interposing and not attacked(&s.pos, to_square(move), s.attacker ^ 1, occupied(&s.pos))
    for i in range(node.first, node.first + node.count):
        other = s.children[i].move
        alike = from_square(other) == from_square(move) or (interposing and is_drop(other))
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


cdef uint32_t delta_of(const Solver *s, PnNode *node) noexcept nogil:
    """Return the node's delta, 0 if all children are settled; set node.others. A child must be chosen."""
    cdef uint64_t total = 0
    cdef uint32_t most = 0, unsettled = 0, phi, chosen = child_phi(node, &s.children[node.chosen].result)
    cdef int i
    for i in range(node.first, node.first + node.count):
        phi = child_phi(node, &s.children[i].result)
        most = max(most, phi)
        total += phi
        unsettled += phi > 0
    if node.attacking and node.remaining == UNLIMITED:
        node.others = OTHER_CHECK * (max(unsettled, 1) - 1)
        return min(most + node.others, <uint32_t>(PROOF_INFINITE - 1))
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
    the plies of both.
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
        enter_crowd(s.crowd, key, hand)
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
        leave_crowd(s.crowd, node.key, node.hand)
        if solved and crowd_inside(s.crowd, node.key, node.hand):
            count_in_word(&s.crowd.settled, 1)
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
    if not crowd_inside(s.crowd, child.key, child.hand):
        return second_delta
    most = min(most, node.thpn if node.attacking else node.thdn)
    for i in range(node.first, node.first + node.count):
        child = s.children + i
        delta = child_delta(node, &child.result)
        if delta < most and not crowd_inside(s.crowd, child.key, child.hand):
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
    s.settled_seen = load_word(&s.crowd.settled)
    for depth in range(s.base, s.depth + 1):
        node = s.stack + depth
        if (proof_table_probe(s.table, node.key, node.hand, node.remaining, node.path_key, &result)
                and not (result.pn and result.dn)):
            s.abandoned = depth
            return


cdef bint past_limit(Solver *s) noexcept nogil:
    """Check the deadline; exchange counts with the other threads; pause if more threads are wanted."""
    cdef uint64_t nodes = load_word(&s.nodes)
    s.next_check = next_check(nodes, 0)
    if s.leader_nodes == NULL:
        s.elsewhere = load_word(&s.crowd.nodes)
        s.paused = 1 + <uint64_t>s.helpers < load_word(&s.crowd.wanted) and nodes >= s.alone_until
    else:
        count_in_word(&s.crowd.nodes, nodes - s.reported)
        s.reported = nodes
        s.elsewhere = load_word(s.leader_nodes) + load_word(&s.crowd.nodes) - nodes
    if s.together and s.node_limit > nodes + s.elsewhere:   # near the limit the counts must be newer
        s.next_check = min(s.next_check, nodes + (s.node_limit - nodes - s.elsewhere) // 4)
    return past_deadline(s.stop)


cdef inline bint must_stop(Solver *s, const PnNode *node) noexcept nogil:
    """Check the flags at every step, the clock every CHECK_INTERVAL nodes."""
    if stop_requested(s.stop) or (s.node_limit and load_word(&s.nodes) + s.elsewhere >= s.node_limit):
        return True
    if s.together:
        if load_word(&s.crowd.finished):
            return True
        if load_word(&s.crowd.settled) != s.settled_seen:
            look_for_solved(s)
    if s.depth + 2 >= MAX_MATE_PLY or node.first + node.count + MAX_MOVES >= MAX_CHILDREN:
        return True
    return load_word(&s.nodes) >= s.next_check and past_limit(s)


cdef void search_loop(Solver *s) noexcept nogil:
    """Search until the root is solved or the search is stopped or paused."""
    cdef PnNode *node
    cdef uint32_t second_delta
    while True:
        node = s.stack + s.depth
        second_delta = update_node(s, node)
        if must_stop(s, node):
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
    push_node(s, attacking, key, extend_path(<uint64_t>s.base, key, hand), hand, remaining, 0)
    search_loop(s)


cdef bint root_is_solved(Solver *s, int remaining, PnResult *result) noexcept nogil:
    cdef uint64_t key = node_key(s, s.pos.state.board_key, 0)
    cdef Hand hand = hand_of(&s.pos, s.attacker)
    return proof_table_probe(s.table, key, hand, remaining, 0, result) and (result.pn == 0 or result.dn == 0)


cdef int allocate_solver(Solver *s) except -1:
    allocate_position(&s.pos, 16)
    s.stack = <PnNode *>allocate(MAX_MATE_PLY * sizeof(PnNode))
    s.children = <Child *>allocate(MAX_CHILDREN * sizeof(Child))
    if s.stack == NULL or s.children == NULL:
        raise MemoryError("no memory for a mate search")
    return 0


cdef void free_solver(Solver *s) noexcept nogil:
    free_position(&s.pos)
    free(s.stack)
    free(s.children)
    s.stack = NULL
    s.children = NULL


cdef int set_root(Solver *s, const Position *pos) except -1 nogil:
    copy_position(&s.pos, pos, 2 * MAX_MATE_PLY + 16)
    s.attacker = pos.side
    # Board and attacker's hand alone do not determine the defender's hand: add the pieces in play.
    s.salt = piece_counts(pos) * <uint64_t>0xA0761D6478BD642F
    s.salt ^= <uint64_t>(1 + 2 * s.count_all_interpositions + pos.side) << 50
    store_word(&s.nodes, 0)
    s.expanded = 0
    s.next_check = 0
    s.alone_until = <uint64_t>-1
    s.base = 0
    return 0


cdef void avoid_position(Solver *s, const Position *pos, bint store) noexcept nogil:
    cdef Hand hand = hand_of(pos, s.attacker)
    cdef PnResult result = disproved(hand, UNLIMITED, PATH_INDEPENDENT)
    if store:
        proof_table_store(s.table, node_key(s, pos.state.board_key, 0), hand, 0, &result, PROOF_INFINITE)
    else:
        s.salt ^= extend_path(0, pos.state.board_key, hand)


cdef uint64_t piece_counts(const Position *pos) noexcept nogil:
    """Count the pieces of each type, in both hands and on the board."""
    cdef Hand total = both_hands(pos)
    cdef int square, piece
    for square in range(SQUARES):
        piece = type_of(pos.board[square])
        if piece and piece != KING:
            total += hand_one(raw_type(piece))
    return total
