"""Depth-first proof-number search (A. Nagai, 2002) for mates by checks.

What it does beyond the plain algorithm:
- Thresholds of 1 + 3/16 (J. Pawlewicz and L. Lew, 2007) keep it from jumping between siblings.
- Dominance by pieces in hand: a proof is stored with the least hand that it needs, a refutation with the greatest it
  holds for.
- Repetition is the attacker's failure. A refutation that rests on one is kept for the line on which it was found only
  (A. Kishimoto and M. Mueller, 2004), so none is ever believed elsewhere; a proof never rests on one.
- Moves that are all but the same (a piece promoted or not, drops on one square between) count once, by their greatest
  number.
- First numbers: the answers to a check, the checks that are left and the squares that the king can go to.
"""

from libc.stdlib cimport free, malloc

from core_ext.base.stop cimport stop_requested
from core_ext.shogi.bitboard cimport Bitboard, count, lowest, some
from core_ext.shogi.hand cimport hand_covers, hand_one
from core_ext.mate.mate_in_one cimport mate_or_flights
from core_ext.shogi.movegen cimport generate_checks, generate_evasions, is_legal
from core_ext.shogi.position cimport (
    Position, SEEN_SLOTS, allocate_position, copy_position, do_move, to_move32, free_position, hand_of, in_check,
    undo_move,
)
from core_ext.mate.proof_pieces cimport (
    gap, greatest, hand_before, least, refuted_before, with_monopolies, without_new_kinds,
)
from core_ext.mate.proof_table cimport (
    PROOF_INFINITE, UNTAINTED, Verdict, allocate_table, clear_table, free_table, look_up, store,
)
from core_ext.shogi.types cimport (
    Hand, KING, MAX_MOVES, Move, Move32, board_move, captured_piece, dropped_type, from_square, is_drop, is_promotion,
    moved_piece, placed_piece, promotion_move, raw_type, to_square, type_of, uint16_t, uint32_t, uint64_t, uint8_t,
)
from core_ext.shogi.zobrist cimport zobrist

# First proof and disproof numbers, in halves of a plain node. Together with the thresholds they were found by a random
# search, for fewest nodes on short problems and on 250 hard positions from games (docs/mate.md).
cdef enum:
    ATTACK_PROOF = 2        # of the attacker's node
    FLIGHT_PROOF = 1        # more, for each square that the king can go to
    CHECK_DISPROOF = 3      # for each check
    WALK_PROOF = 3          # of the defender's node: for each answer but drops
    DROP_PROOF = 2          # for each square to drop on
    DEFENCE_DISPROOF = 2    # of the defender's node


# ---- making moves ----

cdef inline uint64_t node_key(const Solver *s, uint64_t board_key, int remaining, int context) noexcept nogil:
    cdef uint64_t key = board_key ^ s.salt ^ <uint64_t>context * <uint64_t>0xD1B54A32D192ED03
    return key ^ <uint64_t>(remaining + 8) * <uint64_t>0x9E3779B97F4A7C15


cdef inline uint64_t longer_path(uint64_t path, uint64_t key, Hand hand) noexcept nogil:
    """The hash of a line: its positions in their order."""
    cdef uint64_t mixed = (path ^ key ^ (<uint64_t>hand << 20)) * <uint64_t>0xBF58476D1CE4E5B9
    return mixed ^ (mixed >> 29)


cdef inline uint64_t board_key_after(const Position *pos, Move32 move) noexcept nogil:
    cdef uint64_t key = pos.state.board_key ^ zobrist.side ^ zobrist.board[placed_piece(move)][to_square(move)]
    if is_drop(move):
        return key
    key ^= zobrist.board[captured_piece(move)][to_square(move)]
    return key ^ zobrist.board[moved_piece(move)][from_square(move)]


cdef inline Hand hand_after(const Solver *s, Move32 move, bint attacking) noexcept nogil:
    """The attacker's hand after a move of either side."""
    cdef Hand hand = hand_of(&s.pos, s.attacker)
    if not attacking:
        return hand
    if is_drop(move):
        return hand - hand_one(dropped_type(move))
    if captured_piece(move):
        return hand + hand_one(raw_type(type_of(captured_piece(move))))
    return hand


cdef void make(Solver *s, Move move, bint returned) noexcept nogil:
    """`returned`: the piece captured goes back to the other hand. (Keys of hands play no part here.)"""
    cdef Hand one
    do_move(&s.pos, move)
    s.nodes += 1
    if returned:
        one = hand_one(raw_type(type_of(captured_piece(s.pos.state.move))))
        s.pos.state.hand[s.attacker] -= one
        s.pos.state.hand[s.attacker ^ 1] += one


cdef int repeated_depth(const Solver *s, uint64_t board_key, Hand hand) noexcept nogil:
    """The depth of an earlier position with this board and no smaller a hand, or -1: a child there is of no use."""
    cdef int plies
    if s.pos.seen[board_key & (SEEN_SLOTS - 1)] == 0:
        return -1
    for plies in range(3, s.depth + 1, 2):
        if (s.pos.state - plies).board_key == board_key and hand_covers((s.pos.state - plies).hand[s.attacker], hand):
            return s.depth - plies
    return -1


# ---- a first look at a node ----

cdef inline Verdict undecided(uint32_t pn, uint32_t dn) noexcept nogil:
    cdef Verdict verdict
    verdict.pn = pn
    verdict.dn = dn
    verdict.hand = 0
    verdict.length = 0
    verdict.taint = UNTAINTED
    return verdict


cdef inline Verdict proved(Hand hand, int length) noexcept nogil:
    cdef Verdict verdict = undecided(0, PROOF_INFINITE)
    verdict.hand = hand
    verdict.length = <uint16_t>length
    return verdict


cdef inline Verdict refuted(Hand hand, int taint) noexcept nogil:
    cdef Verdict verdict = undecided(PROOF_INFINITE, 0)
    verdict.hand = hand
    verdict.taint = <uint16_t>taint
    return verdict


cdef Verdict look_at_defence(Solver *s, int remaining) noexcept nogil:
    """The defender is to move, in check unless the move was none of ours to make."""
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *last
    cdef int walks = 0, drops = 0, moved = 0
    if not in_check(&s.pos):
        return refuted(hand_of(&s.pos, s.attacker), UNTAINTED)
    last = generate_evasions(&s.pos, moves, True)
    if last == moves:
        return proved(with_monopolies(&s.pos, s.attacker, 0), 0)
    while move != last:
        if is_drop(move[0]):
            drops += 1
        else:
            moved += 1
            walks += not is_promotion(move[0])
        move += 1
    if remaining <= 0 and (s.count_useless or moved):
        return refuted(hand_of(&s.pos, s.attacker), UNTAINTED)
    return undecided(WALK_PROOF * max(walks, 1) + DROP_PROOF * min(drops, count(gap(&s.pos))), DEFENCE_DISPROOF)


cdef Verdict look_at_attack(Solver *s, int remaining, int context) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move mate
    cdef Verdict verdict
    cdef int checks, flights = 0
    if remaining >= 1:
        mate = mate_or_flights(&s.pos, &flights)
        if mate:
            make(s, mate, False)
            verdict = proved(hand_before(with_monopolies(&s.pos, s.attacker, 0), s.pos.state.move), 1)
            undo_move(&s.pos)
            return verdict
    if not context and (remaining < 1 or (remaining == 1 and s.count_useless)):
        return refuted(hand_of(&s.pos, s.attacker), UNTAINTED)
    checks = <int>(generate_checks(&s.pos, moves, True) - moves)
    if checks == 0 and not context:
        return refuted(without_new_kinds(&s.pos, s.attacker, hand_of(&s.pos, 0) + hand_of(&s.pos, 1)), UNTAINTED)
    return undecided(ATTACK_PROOF + FLIGHT_PROOF * flights, CHECK_DISPROOF * max(checks, 1))


# ---- expanding a node ----

cdef inline int interposed_slider(const Solver *s) noexcept nogil:
    """1 + the square of the slider that a drop would now be put before; 0 where there is none."""
    cdef Bitboard between = gap(&s.pos)
    return 1 + lowest(s.pos.state.checkers) if some(between) else 0


cdef Verdict first_verdict(Solver *s, const Frame *frame, const Child *child, uint64_t path) noexcept nogil:
    cdef Verdict verdict
    if look_up(&s.table, child.key, child.hand, path, &verdict):
        return verdict
    make(s, child.move, child.returned)
    if frame.attacking:
        verdict = look_at_defence(s, child.remaining)
    else:
        verdict = look_at_attack(s, child.remaining, child.context)
    undo_move(&s.pos)
    store(&s.table, child.key, child.hand, path, &verdict, 0)
    return verdict


cdef void add_child(Solver *s, Frame *frame, Move move, int context, bint returned) noexcept nogil:
    cdef Move32 move32 = to_move32(&s.pos, move)
    cdef uint64_t board_key = board_key_after(&s.pos, move32)
    cdef Child *child = s.children + frame.first + frame.count
    cdef int depth
    child.move = move
    child.returned = returned
    child.context = <uint8_t>(context if is_drop(move) else 0)
    child.remaining = frame.remaining
    if frame.remaining != UNLIMITED:
        child.remaining = 0 if returned else frame.remaining - 1
    child.hand = frame.hand if returned else hand_after(s, move32, frame.attacking)
    child.key = node_key(s, board_key, child.remaining, child.context)
    child.leader = leader_of(s, frame, move)
    frame.count += 1
    if frame.remaining == UNLIMITED:
        depth = repeated_depth(s, board_key, child.hand)
        if depth >= 0:
            child.verdict = refuted(child.hand, depth)
            return
    child.verdict = first_verdict(s, frame, child, longer_path(frame.path, child.key, child.hand))


cdef int leader_of(const Solver *s, const Frame *frame, Move move) noexcept nogil:
    """The first child that goes the same way: the other promotion, or a drop of the defender on the same square."""
    cdef int i
    cdef Move other
    for i in range(frame.first, frame.first + frame.count):
        other = s.children[i].move
        if to_square(other) != to_square(move):
            continue
        if from_square(other) == from_square(move) or (is_drop(move) and is_drop(other) and not frame.attacking):
            return s.children[i].leader
    return frame.first + frame.count


cdef void add_returning(Solver *s, Frame *frame) noexcept nogil:
    """The slider takes what was interposed, and the piece goes back: if that is mate at once, it changed nothing."""
    cdef int origin = frame.context - 1, target = to_square(s.pos.state.move)
    if is_legal(&s.pos, board_move(origin, target)):
        add_child(s, frame, board_move(origin, target), 0, True)
    if is_legal(&s.pos, promotion_move(origin, target)):
        add_child(s, frame, promotion_move(origin, target), 0, True)


cdef void expand(Solver *s, Frame *frame) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *last = moves
    cdef int context = 0
    frame.count = 0
    if not frame.attacking:
        last = generate_evasions(&s.pos, moves, True)
        if frame.remaining != UNLIMITED and not s.count_useless:
            context = interposed_slider(s)
    elif frame.remaining >= 1:
        last = generate_checks(&s.pos, moves, True)
    while move != last:
        add_child(s, frame, move[0], context, False)
        if decides(frame, &s.children[frame.first + frame.count - 1].verdict):
            return      # nobody needs to look at the others
        move += 1
    if frame.context:
        add_returning(s, frame)


cdef inline bint decides(const Frame *frame, const Verdict *verdict) noexcept nogil:
    """Whether one child settles the node for good."""
    if frame.attacking:
        return verdict.pn == 0 and verdict.length == 0
    return verdict.dn == 0 and verdict.taint == UNTAINTED


# ---- numbers of a node from its children ----

cdef inline uint32_t effort(const Frame *frame, const Verdict *verdict) noexcept nogil:
    """The number of which the side to move takes the least."""
    return verdict.pn if frame.attacking else verdict.dn


cdef inline uint32_t burden(const Frame *frame, const Verdict *verdict) noexcept nogil:
    """The number that adds up over the children."""
    return verdict.dn if frame.attacking else verdict.pn


cdef uint32_t total_burden(Solver *s, const Frame *frame) noexcept nogil:
    """The sum over groups of their greatest."""
    cdef uint64_t total = 0
    cdef int i
    cdef Child *child
    for i in range(frame.first, frame.first + frame.count):
        s.children[i].peak = 0
    for i in range(frame.first, frame.first + frame.count):
        child = s.children + i
        s.children[child.leader].peak = max(s.children[child.leader].peak, burden(frame, &child.verdict))
    for i in range(frame.first, frame.first + frame.count):
        total += s.children[i].peak
    return <uint32_t>min(total, <uint64_t>(PROOF_INFINITE - 1))


cdef uint32_t choose(Solver *s, Frame *frame, uint32_t *least_effort) noexcept nogil:
    """Set the child to search; its effort and the second least."""
    cdef uint32_t best = PROOF_INFINITE, second = PROOF_INFINITE, number
    cdef uint32_t lightest = PROOF_INFINITE
    cdef int i
    frame.chosen = frame.first
    for i in range(frame.first, frame.first + frame.count):
        number = effort(frame, &s.children[i].verdict)
        if number < best or (number == best and burden(frame, &s.children[i].verdict) < lightest):
            if number < best:
                second = best
            best = number
            lightest = burden(frame, &s.children[i].verdict)
            frame.chosen = i
        elif number < second:
            second = number
    least_effort[0] = best
    return second


cdef Verdict attack_proved(Solver *s, const Frame *frame) noexcept nogil:
    """By the child with the shortest mate."""
    cdef int i
    cdef Child *best = NULL
    cdef Child *child
    cdef Hand hand
    for i in range(frame.first, frame.first + frame.count):
        child = s.children + i
        if child.verdict.pn == 0 and (best == NULL or child.verdict.length < best.verdict.length):
            best = child
    hand = best.verdict.hand
    if not best.returned:
        hand = hand_before(hand, to_move32(&s.pos, best.move))
    return proved(hand, best.verdict.length + 1)


cdef Verdict defence_failed(Solver *s, const Frame *frame) noexcept nogil:
    cdef int i, length = 0
    cdef Hand hand = 0
    for i in range(frame.first, frame.first + frame.count):
        hand = greatest(hand, s.children[i].verdict.hand)
        length = max(length, s.children[i].verdict.length + 1)
    return proved(with_monopolies(&s.pos, s.attacker, hand), length)


cdef Verdict attack_refuted(Solver *s, const Frame *frame) noexcept nogil:
    cdef int i, taint = UNTAINTED
    cdef Hand hand = hand_of(&s.pos, s.attacker) + hand_of(&s.pos, s.attacker ^ 1), allowed
    cdef Child *child
    for i in range(frame.first, frame.first + frame.count):
        child = s.children + i
        allowed = child.verdict.hand
        if not child.returned:
            allowed = refuted_before(allowed, to_move32(&s.pos, child.move))
        hand = least(hand, allowed)
        taint = min(taint, child.verdict.taint)
    return refuted(without_new_kinds(&s.pos, s.attacker, hand), taint if taint < s.depth else UNTAINTED)


cdef Verdict defence_found(Solver *s, const Frame *frame) noexcept nogil:
    """By the child that rests on the latest repetition, or on none."""
    cdef int i
    cdef Child *best = NULL
    cdef Child *child
    for i in range(frame.first, frame.first + frame.count):
        child = s.children + i
        if child.verdict.dn == 0 and (best == NULL or child.verdict.taint > best.verdict.taint):
            best = child
    return refuted(least(best.verdict.hand, hand_of(&s.pos, s.attacker) + hand_of(&s.pos, s.attacker ^ 1)),
                   best.verdict.taint if best.verdict.taint < s.depth else UNTAINTED)


cdef uint32_t weigh(Solver *s, Frame *frame) noexcept nogil:
    """Set the node's verdict and the child to search; returns the second least effort."""
    cdef uint32_t best, second = choose(s, frame, &best), total
    cdef bint attacking = frame.attacking
    if best == 0:
        frame.verdict = attack_proved(s, frame) if attacking else defence_found(s, frame)
        return second
    total = total_burden(s, frame)
    if total == 0:
        frame.verdict = attack_refuted(s, frame) if attacking else defence_failed(s, frame)
    else:
        frame.verdict = undecided(best, total) if attacking else undecided(total, best)
    return second


# ---- the search: frames on a stack of our own, no recursion ----

cdef inline uint32_t rest_of(uint32_t limit, uint32_t total, uint32_t peak) noexcept nogil:
    """What a child may add up to before the node's limit is reached."""
    if limit >= PROOF_INFINITE:
        return PROOF_INFINITE
    return limit - min(total - peak, limit)


cdef void enter(Solver *s, int attacking, uint64_t key, uint64_t path, Hand hand, int remaining,
                int context) noexcept nogil:
    """A frame for the position on the board, expanded."""
    cdef Frame *frame = s.frames + s.depth
    frame.key = key
    frame.path = path
    frame.hand = hand
    frame.remaining = remaining
    frame.context = context
    frame.attacking = attacking
    frame.nodes_before = s.nodes
    s.expanded += 1
    frame.pn_limit = frame.dn_limit = PROOF_INFINITE
    frame.first = 0 if s.depth == s.base else s.frames[s.depth - 1].first + s.frames[s.depth - 1].count
    expand(s, frame)


cdef void descend(Solver *s, Frame *frame, uint32_t second) noexcept nogil:
    cdef Child *child = s.children + frame.chosen
    cdef Frame *below = frame + 1
    cdef uint32_t margin = min(second + second * 3 // 16 + 1, <uint32_t>PROOF_INFINITE)
    cdef uint32_t peak = s.children[child.leader].peak
    make(s, child.move, child.returned)
    s.depth += 1
    enter(s, not frame.attacking, child.key, longer_path(frame.path, child.key, child.hand), child.hand,
          child.remaining, child.context)
    if frame.attacking:
        below.pn_limit = min(frame.pn_limit, margin)
        below.dn_limit = rest_of(frame.dn_limit, frame.verdict.dn, peak)
    else:
        below.dn_limit = min(frame.dn_limit, margin)
        below.pn_limit = rest_of(frame.pn_limit, frame.verdict.pn, peak)


cdef void leave(Solver *s, Frame *frame) noexcept nogil:
    """Keep the verdict, in the table and in the parent."""
    if frame.verdict.pn == 0 or frame.verdict.dn == 0 or not s.stopped:
        store(&s.table, frame.key, frame.hand, frame.path, &frame.verdict, s.nodes - frame.nodes_before)
    if s.depth == s.base:
        return
    undo_move(&s.pos)
    s.depth -= 1
    s.children[s.frames[s.depth].chosen].verdict = frame.verdict


cdef inline bint out_of_room(const Solver *s, const Frame *frame) noexcept nogil:
    return s.depth + 2 >= MAX_FRAMES or frame.first + frame.count + MAX_MOVES >= MAX_CHILDREN


cdef bint fresh_news(Solver *s, Frame *frame) noexcept nogil:
    """Whether the chosen child was decided elsewhere meanwhile."""
    cdef Child *child = s.children + frame.chosen
    cdef Verdict verdict
    if not look_up(&s.table, child.key, child.hand, longer_path(frame.path, child.key, child.hand), &verdict):
        return False
    if verdict.pn and verdict.dn:
        return False
    child.verdict = verdict
    return True


cdef void run(Solver *s) noexcept nogil:
    """Search until the first frame is decided, or stopped."""
    cdef Frame *frame
    cdef uint32_t second
    while True:
        frame = s.frames + s.depth
        second = weigh(s, frame)
        if stop_requested(s.stop) or (s.node_limit and s.nodes >= s.node_limit) or out_of_room(s, frame):
            s.stopped = True
        if s.stopped or frame.verdict.pn >= frame.pn_limit or frame.verdict.dn >= frame.dn_limit:
            leave(s, frame)
            if frame == s.frames + s.base:
                return
        elif not fresh_news(s, frame):
            descend(s, frame, second)


cdef void explore(Solver *s, bint attacking, int remaining, int context) noexcept nogil:
    """Search the position on the board; its children stand in the frame at s.base afterwards."""
    cdef uint64_t key = node_key(s, s.pos.state.board_key, remaining, context)
    cdef Hand hand = hand_of(&s.pos, s.attacker)
    s.stopped = False
    s.depth = s.base
    enter(s, attacking, key, longer_path(<uint64_t>s.base, key, hand), hand, remaining, context)
    run(s)


cdef Verdict prove(Solver *s, bint attacking, int remaining, int context) noexcept nogil:
    cdef uint64_t key = node_key(s, s.pos.state.board_key, remaining, context)
    cdef Verdict verdict
    s.stopped = False
    if look_up(&s.table, key, hand_of(&s.pos, s.attacker), 0, &verdict) and (verdict.pn == 0 or verdict.dn == 0):
        return verdict
    explore(s, attacking, remaining, context)
    return s.frames[s.base].verdict


# ---- the solver ----

cdef int allocate_solver(Solver *s, int megabytes) except -1:
    allocate_position(&s.pos, 16)
    s.frames = <Frame *>malloc(MAX_FRAMES * sizeof(Frame))
    s.children = <Child *>malloc(MAX_CHILDREN * sizeof(Child))
    if s.frames == NULL or s.children == NULL:
        raise MemoryError("no memory for a mate search")
    allocate_table(&s.table, megabytes)
    s.table.stop = s.stop
    return 0


cdef void free_solver(Solver *s) noexcept nogil:
    free_position(&s.pos)
    free(s.frames)
    free(s.children)
    free_table(&s.table)
    s.frames = NULL
    s.children = NULL


cdef int set_root(Solver *s, const Position *pos) except -1 nogil:
    copy_position(&s.pos, pos, 2 * MAX_FRAMES + 16)
    if s.table.broken:
        clear_table(&s.table)
    s.attacker = pos.side
    # A board says all of the defender's hand only beside the set of pieces that are in play.
    s.salt = set_of(pos) * <uint64_t>0xA0761D6478BD642F ^ <uint64_t>(1 + 2 * s.count_useless + pos.side) << 50
    s.nodes = 0
    s.expanded = 0
    s.base = 0
    return 0


cdef uint64_t set_of(const Position *pos) noexcept nogil:
    """How many of each kind are in hands and on the board."""
    cdef Hand total = hand_of(pos, 0) + hand_of(pos, 1)
    cdef int square, piece
    for square in range(81):
        piece = type_of(pos.board[square])
        if piece and piece != KING:
            total += hand_one(raw_type(piece))
    return total
