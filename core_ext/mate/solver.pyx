"""A mate search: memory, root, moves; initial proof and disproof numbers from the numbers of evasions, of checks and of
the king's escape squares.
"""

from libc.stdlib cimport free

from core_ext.base.atomic cimport add_to_word, store_word
from core_ext.base.memory cimport allocate
from core_ext.shogi.bitboard cimport Bitboard, count, has
from core_ext.shogi.hand cimport hand_one
from core_ext.mate.mate_in_one cimport mate_in_one_and_escapes
from core_ext.mate.proof_pieces cimport (
    both_hands, clip_disproof_hand, interposition_squares, proof_hand_before, with_exclusive_types,
)
from core_ext.mate.proof_table cimport PATH_INDEPENDENT, PnResult, PROOF_INFINITE, UNLIMITED, proof_table_store
from core_ext.shogi.movegen cimport generate_checks, generate_evasions
from core_ext.shogi.position cimport (
    allocate_position, copy_position, do_move, free_position, hand_of, in_check, Position, undo_move,
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
# A search limited in length mostly disproves. Its OR nodes do without ESCAPE_PN, and an AND node with few evasions gets
# a greater dn.
    MANY_EVASIONS = 6       # AND node: dn grows by 1 for each evasion by a board move below this number


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
    cdef int blocked_slider
    if store:
        for blocked_slider in range(SQUARES + 1):   # after an interposition the key is another one
            proof_table_store(s.table, node_key(s, pos.state.board_key, blocked_slider), hand, 0, &result,
                              PROOF_INFINITE)
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


# ---- initial proof and disproof numbers ----

cdef PnResult initial_and_node(Solver *s, int remaining) noexcept nogil:
    """Return the initial result of an AND node; without check it is disproved."""
    cdef Move moves[MAX_MOVES]
    cdef Move *move = moves
    cdef Move *last
    cdef int evasions = 0, drops = 0, missing
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
    missing = max(MANY_EVASIONS - evasions, 0) if remaining < UNLIMITED else 0
    return unsolved(EVASION_PN * max(evasions, 1) + INTERPOSITION_PN * drops, AND_DN + missing, remaining)


cdef PnResult initial_or_node(Solver *s, int remaining, int blocked_slider) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move mate
    cdef PnResult result
    cdef int checks, escapes = 0, pn = OR_PN
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
    if remaining == UNLIMITED:
        pn += ESCAPE_PN * escapes
    return unsolved(pn, CHECK_DN * max(checks, 1), remaining)
