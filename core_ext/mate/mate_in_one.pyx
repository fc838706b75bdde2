"""Mate in one move, found on bitboards: no move is made. Mate in three plies: the check and the answer are made.

First the squares next to the enemy king that we do not attack: a drop that leaves one of them open cannot mate, and a
board move only where it uncovers a slider. What passes is verified exactly on the occupancy after the move: flights,
captures of the checker by pieces that are not pinned, interpositions by moves and by drops.
"""

from libc.string cimport memcpy

from core_ext.shogi.bitboard cimport (
    Bitboard, attacks, bishop_attacks, both, count, either, empty, files_without, has, lance_attacks, lowest, many,
    meet, pop, rook_attacks, some, tables, without,
)
from core_ext.shogi.hand cimport HAND_PAWNS, hand_has
from core_ext.shogi.movegen cimport generate_checks, generate_evasions, has_legal_move
from core_ext.shogi.position cimport (
    Position, State, attacked, attackers, diagonal_sliders, do_move, to_move32, hand_of, occupied, pieces,
    slide_attackers, step_attackers, straight_sliders, undo_move,
)
from core_ext.shogi.types cimport (
    BISHOP, COLORS, DRAGON, GOLD, GOLDS, HORSE, Hand, KING, KNIGHT, LANCE, MAX_MOVES, Move, NO_MOVE, NO_SQUARE, PAWN,
    PIECE_TYPES, PROMOTED, ROOK, Move32, SILVER, SQUARES, board_move, can_promote, drop_move, from_square, is_drop,
    placed_piece, promotion_move, to_square, type_of, uint64_t,
)

cdef enum:
    NO_ORIGIN = NO_SQUARE   # of a drop: its bitboard is empty

# Squares from which a piece of a type may check the king with one move on some board: [colour][king][type].
cdef Bitboard check_origins[COLORS][SQUARES][PIECE_TYPES]

# What is known of the enemy king before any move is tried.
cdef struct Hunt:
    int us
    int king
    Bitboard occ
    Bitboard near           # the eight squares around it
    Bitboard open           # of them those that it could go to now
    Bitboard straight       # a rook's and a bishop's attacks from the king
    Bitboard diagonal
    Bitboard discoverers    # our pieces that alone shield it from our sliders
    Bitboard evading        # where our pieces may go: everywhere, or what answers a check against us


cdef Bitboard origins_to(int them, int piece_type, Bitboard targets) noexcept nogil:
    """From where a piece of the other colour reaches one of `targets` on an empty board."""
    cdef Bitboard found = empty()
    while some(targets):
        found = either(found, attacks(them, piece_type, pop(&targets), empty()))
    return found


cdef void init_check_origins() noexcept nogil:
    cdef int us, king, piece_type
    cdef Bitboard targets, zone
    for us in range(COLORS):
        zone = tables.zone[us]
        for king in range(SQUARES):
            for piece_type in range(PAWN, DRAGON + 1):
                targets = attacks(us ^ 1, piece_type, king, empty())
                check_origins[us][king][piece_type] = origins_to(us ^ 1, piece_type, targets)
                if not can_promote(piece_type):
                    continue
                targets = attacks(us ^ 1, piece_type + PROMOTED, king, empty())
                check_origins[us][king][piece_type] = either(
                    check_origins[us][king][piece_type],
                    either(origins_to(us ^ 1, piece_type, both(targets, zone)),
                           both(origins_to(us ^ 1, piece_type, targets), zone)))
            check_origins[us][king][KING] = empty()


# ---- the king's surroundings ----

cdef inline Bitboard attacked_near(const Position *pos, int us, int king, Bitboard near, Bitboard occ) noexcept nogil:
    """At least those squares of `near` that `us` attacks, by walking over our few pieces that may reach it."""
    cdef Bitboard mine = pos.color[us], found = empty(), men
    cdef int square
    men = both(mine, tables.king_zone[us ^ 1][king])
    while some(men):
        square = pop(&men)
        found = either(found, tables.step[us][type_of(pos.board[square])][square])
    men = both(mine, diagonal_sliders(pos))
    while some(men):
        found = either(found, bishop_attacks(pop(&men), occ))
    men = both(mine, straight_sliders(pos))
    while some(men):
        found = either(found, rook_attacks(pop(&men), occ))
    men = both(mine, pos.kind[LANCE])
    while some(men):
        square = pop(&men)
        if meet(tables.forward[us][square], near):
            found = either(found, lance_attacks(us, square, occ))
    return found


cdef inline Bitboard find_discoverers(const Position *pos, int us, int king, Bitboard occ) noexcept nogil:
    cdef Bitboard found = empty(), line
    cdef Bitboard snipers = aligned_sliders(pos, us, king)
    while some(snipers):
        line = both(tables.between[king][pop(&snipers)], occ)
        if some(line) and not many(line):
            found = either(found, line)
    return both(found, pos.color[us])


cdef inline Bitboard aligned_sliders(const Position *pos, int us, int king) noexcept nogil:
    """Our sliders that would check on an empty board."""
    cdef Bitboard found = both(tables.forward[us ^ 1][king], pos.kind[LANCE])
    found = either(found, both(tables.bishop_lines[king], diagonal_sliders(pos)))
    found = either(found, both(tables.rook_lines[king], straight_sliders(pos)))
    return both(found, pos.color[us])


cdef inline void survey(const Position *pos, Hunt *hunt) noexcept nogil:
    cdef int us = pos.side, king = pos.king[us ^ 1]
    cdef Bitboard checkers = pos.state.checkers
    hunt.us = us
    hunt.king = king
    hunt.occ = occupied(pos)
    hunt.near = tables.step[0][KING][king]
    hunt.open = without(hunt.near, pos.color[us ^ 1])
    hunt.open = without(hunt.open, attacked_near(pos, us, king, hunt.near, without(hunt.occ, tables.square[king])))
    hunt.straight = rook_attacks(king, hunt.occ)
    hunt.diagonal = bishop_attacks(king, hunt.occ)
    hunt.discoverers = find_discoverers(pos, us, king, hunt.occ)
    hunt.evading = tables.drop_ranks[0][GOLD]
    if many(checkers):
        hunt.evading = empty()
    elif some(checkers):
        hunt.evading = either(checkers, tables.between[pos.king[us]][lowest(checkers)])


cdef inline Bitboard check_squares(const Hunt *hunt, int piece_type) noexcept nogil:
    """From where a piece of the type checks the king as the board is."""
    if piece_type == LANCE:
        return both(hunt.straight, tables.forward[hunt.us ^ 1][hunt.king])
    if piece_type == BISHOP:
        return hunt.diagonal
    if piece_type == ROOK:
        return hunt.straight
    if piece_type == HORSE:
        return either(hunt.diagonal, hunt.near)
    if piece_type == DRAGON:
        return either(hunt.straight, hunt.near)
    if piece_type == KING:
        return empty()
    return tables.step[hunt.us ^ 1][piece_type][hunt.king]


# ---- is it mate? ----

cdef bint has_flight(const Position *pos, const Hunt *hunt, int origin, Bitboard flights, Bitboard occ) noexcept nogil:
    """Whether none of our pieces but the one from `origin` attacks one of `flights`, on `occ` without the king."""
    cdef int us = hunt.us, square
    cdef Bitboard moved = tables.square[origin]
    while some(flights):
        square = pop(&flights)
        if not (some(without(step_attackers(pos, square, us), moved))
                or some(without(slide_attackers(pos, square, us, occ), moved))):
            return True
    return False


cdef Bitboard pinned_after(const Position *pos, const Hunt *hunt, int origin, int target, int placed,
                           Bitboard occ) noexcept nogil:
    """The defender's pieces that are pinned once the move is made."""
    cdef Bitboard found = empty(), line
    cdef Bitboard snipers = without(aligned_sliders(pos, hunt.us, hunt.king), tables.square[origin])
    if has(attacks(hunt.us ^ 1, placed, hunt.king, empty()), target):
        snipers = either(snipers, tables.square[target])
    while some(snipers):
        line = both(tables.between[hunt.king][pop(&snipers)], occ)
        if some(line) and not many(line):
            found = either(found, line)
    return found


cdef bint may_drop_between(const Position *pos, const Hunt *hunt, int target, Bitboard between) noexcept nogil:
    """Whether the defender can drop a piece on one of `between`, a pawn that would mate us included."""
    cdef int them = hunt.us ^ 1
    cdef Hand hand = hand_of(pos, them)
    cdef Bitboard pawns
    if hand_has(hand, GOLD) or hand_has(hand, SILVER) or hand_has(hand, BISHOP) or hand_has(hand, ROOK):
        return True
    if hand_has(hand, KNIGHT) and meet(between, tables.drop_ranks[them][KNIGHT]):
        return True
    between = both(between, tables.drop_ranks[them][LANCE])
    if hand_has(hand, LANCE) and some(between):
        return True
    if not hand & HAND_PAWNS:
        return False
    pawns = without(pieces(pos, them, PAWN), tables.square[target])
    return meet(between, files_without(pawns))


cdef bint may_move_to(const Position *pos, const Hunt *hunt, int origin, int target, int placed, Bitboard squares,
                      Bitboard occ) noexcept nogil:
    """Whether a piece of the defender, the king apart, can go to one of `squares` after the move."""
    cdef Bitboard movers, gone = either(tables.square[hunt.king], tables.square[target]), pinned
    cdef bint known = False
    while some(squares):
        movers = without(attackers(pos, pop(&squares), hunt.us ^ 1, occ), gone)
        if not some(movers):
            continue
        if not known:
            pinned = pinned_after(pos, hunt, origin, target, placed, occ)
            known = True
        if some(without(movers, pinned)):
            return True
    return False


cdef bint only_a_pawn_helps(const Position *pos, const Hunt *hunt, Bitboard between) noexcept nogil:
    """Whether a drop between might be a pawn that mates us, which is no legal answer."""
    cdef int king = pos.king[hunt.us]
    if hand_of(pos, hunt.us ^ 1) & ~<Hand>HAND_PAWNS or king == NO_SQUARE:
        return False
    return meet(tables.step[hunt.us][PAWN][king], between)


cdef bint mates_when_made(const Position *pos, Move move) noexcept nogil:
    """The slow answer, for a case that hardly ever comes: make the move on a copy."""
    cdef Position copy
    cdef State states[2]
    memcpy(&copy, pos, sizeof(Position))
    states[0] = pos.state[0]
    copy.states = states
    copy.state = states
    copy.capacity = 2
    do_move(&copy, move)
    return not has_legal_move(&copy)


cdef Move verified(const Position *pos, const Hunt *hunt, Move move, int placed, bint discovers) noexcept nogil:
    """`move` where it mates, else NO_MOVE. It is legal and gives check; `discovers`: by another piece (too)."""
    cdef int us = hunt.us, king = hunt.king, target = to_square(move)
    cdef int origin = NO_ORIGIN if is_drop(move) else from_square(move), checker
    cdef Bitboard occ = either(without(hunt.occ, tables.square[origin]), tables.square[target])
    cdef Bitboard through = without(occ, tables.square[king])
    cdef Bitboard reached = attacks(us, placed, target, through)
    cdef Bitboard flights = without(without(hunt.near, reached), without(pos.color[us ^ 1], tables.square[target]))
    cdef Bitboard first = both(flights, either(hunt.open, tables.square[target])), checkers, between
    if has_flight(pos, hunt, origin, first, through) or has_flight(pos, hunt, origin, without(flights, first), through):
        return NO_MOVE
    checkers = tables.square[target] if has(reached, king) else empty()
    if discovers:
        checkers = either(checkers, without(slide_attackers(pos, king, us, occ), tables.square[origin]))
    if many(checkers):
        return move
    checker = lowest(checkers)
    between = tables.between[king][checker]
    if may_move_to(pos, hunt, origin, target, placed, either(between, checkers), occ):
        return NO_MOVE
    if not some(between) or not may_drop_between(pos, hunt, target, between):
        return move
    return move if only_a_pawn_helps(pos, hunt, between) and mates_when_made(pos, move) else NO_MOVE


# ---- drops ----

cdef Move mate_by_drop(const Position *pos, const Hunt *hunt, int piece_type) noexcept nogil:
    cdef int us = hunt.us, target
    cdef Bitboard targets = both(both(check_squares(hunt, piece_type), tables.drop_ranks[us][piece_type]), hunt.evading)
    cdef Bitboard through = without(hunt.occ, tables.square[hunt.king])
    cdef Move move
    # Next to the king it must be guarded; and blocking a line opens no square less.
    targets = without(targets, either(hunt.occ, hunt.open))
    while some(targets):
        target = pop(&targets)
        if some(without(hunt.open, attacks(us, piece_type, target, through))):
            continue
        move = verified(pos, hunt, drop_move(piece_type, target), piece_type, False)
        if move:
            return move
    return NO_MOVE


cdef inline Move mate_by_drops(const Position *pos, const Hunt *hunt) noexcept nogil:
    """No pawn: it may not mate."""
    cdef Hand hand = hand_of(pos, hunt.us)
    cdef int piece_type
    cdef Move move
    if not hand & ~<Hand>HAND_PAWNS:
        return NO_MOVE
    for piece_type in range(GOLD, PAWN, -1):
        if hand_has(hand, piece_type):
            move = mate_by_drop(pos, hunt, piece_type)
            if move:
                return move
    return NO_MOVE


# ---- board moves ----

cdef inline Bitboard uncovering(const Hunt *hunt, int origin, Bitboard targets) noexcept nogil:
    """Where the piece from `origin` goes to uncover a check."""
    if not has(hunt.discoverers, origin):
        return empty()
    return without(targets, tables.line[hunt.king][origin])


cdef Move mate_among(const Position *pos, const Hunt *hunt, int origin, Bitboard targets, Bitboard checking,
                     Bitboard uncovered, int placed) noexcept nogil:
    """A mate by the piece on `origin`, that stands as `placed` afterwards, going to `targets`."""
    cdef int target, piece_type = type_of(pos.board[origin])
    cdef Move move
    targets = both(targets, either(checking, uncovered))
    while some(targets):
        target = pop(&targets)
        move = promotion_move(origin, target) if placed != piece_type else board_move(origin, target)
        move = verified(pos, hunt, move, placed, has(uncovered, target))
        if move:
            return move
    return NO_MOVE


cdef Move mate_by_piece(const Position *pos, const Hunt *hunt, int origin) noexcept nogil:
    cdef int us = hunt.us, piece_type = type_of(pos.board[origin])
    cdef Bitboard targets, promotable = empty(), uncovered
    cdef Move move
    targets = both(without(attacks(us, piece_type, origin, hunt.occ), pos.color[us]), hunt.evading)
    if has(pos.state.pinned, origin):
        targets = both(targets, tables.line[pos.king[us]][origin])
    uncovered = uncovering(hunt, origin, targets)
    if can_promote(piece_type):
        promotable = targets if has(tables.zone[us], origin) else both(targets, tables.zone[us])
        move = mate_among(pos, hunt, origin, promotable, check_squares(hunt, piece_type + PROMOTED), uncovered,
                          piece_type + PROMOTED)
        if move:
            return move
    targets = both(targets, tables.drop_ranks[us][piece_type])
    return mate_among(pos, hunt, origin, targets, check_squares(hunt, piece_type), uncovered, piece_type)


cdef Move mate_by_king(const Position *pos, const Hunt *hunt) noexcept nogil:
    """Our king uncovers the check."""
    cdef int us = hunt.us, king = pos.king[us], target
    cdef Bitboard targets = without(tables.step[us][KING][king], pos.color[us])
    cdef Bitboard occ = without(hunt.occ, tables.square[king])
    cdef Move move
    targets = uncovering(hunt, king, targets)
    while some(targets):
        target = pop(&targets)
        if attacked(pos, target, us ^ 1, occ):
            continue
        move = verified(pos, hunt, board_move(king, target), KING, True)
        if move:
            return move
    return NO_MOVE


cdef inline Bitboard candidates(const Position *pos, const Hunt *hunt) noexcept nogil:
    """Our pieces that may give check with one move."""
    cdef const Bitboard *reach = check_origins[hunt.us][hunt.king]
    cdef Bitboard found = both(reach[PAWN], pos.kind[PAWN])
    found = either(found, both(reach[LANCE], pos.kind[LANCE]))
    found = either(found, both(reach[KNIGHT], pos.kind[KNIGHT]))
    found = either(found, both(reach[SILVER], pos.kind[SILVER]))
    found = either(found, both(reach[GOLD], pos.kind[GOLDS]))
    found = either(found, either(diagonal_sliders(pos), straight_sliders(pos)))
    return both(either(found, hunt.discoverers), pos.color[hunt.us])


cdef inline Move mate_by_moves(const Position *pos, const Hunt *hunt) noexcept nogil:
    cdef Bitboard movers = candidates(pos, hunt)
    cdef int origin, own_king = pos.king[hunt.us]
    cdef Move move
    if own_king != NO_SQUARE:
        if has(hunt.discoverers, own_king):
            move = mate_by_king(pos, hunt)
            if move:
                return move
        movers = without(movers, tables.square[own_king])
    while some(movers):
        origin = pop(&movers)
        move = mate_by_piece(pos, hunt, origin)
        if move:
            return move
    return NO_MOVE


cdef Move mate_or_flights(const Position *pos, int *flights) noexcept nogil:
    cdef Hunt hunt
    cdef Move move
    flights[0] = 0
    if pos.king[pos.side ^ 1] == NO_SQUARE:
        return NO_MOVE
    survey(pos, &hunt)
    flights[0] = count(hunt.open)
    move = mate_by_drops(pos, &hunt)
    return move if move else mate_by_moves(pos, &hunt)


cdef Move mate_in_one(const Position *pos) noexcept nogil:
    cdef int flights
    return mate_or_flights(pos, &flights)


# ---- three plies ----

cdef Move mate_after(Position *pos, Move answer, uint64_t *made) noexcept nogil:
    """The mate in one that meets an answer to the check, or NO_MOVE."""
    cdef Move mate
    do_move(pos, answer)
    made[0] += 1
    mate = mate_in_one(pos)
    undo_move(pos)
    return mate


cdef bint all_answers_lose(Position *pos, Move *line, uint64_t *made) noexcept nogil:
    """Whether a mate in one meets every answer to the check on the board; an answer and its mate go to `line`."""
    cdef Move moves[MAX_MOVES]
    cdef Move *answer = moves
    cdef Move *last = generate_evasions(pos, moves, True)
    if last == moves:
        return False
    while answer != last:
        line[0] = answer[0]
        line[1] = mate_after(pos, answer[0], made)
        if not line[1]:
            return False
        answer += 1
    return True


cdef inline int flights_left(const Position *pos, const Hunt *hunt, Move32 check) noexcept nogil:
    """How many squares the king may go to after a check, at a glance: what the move uncovers is not seen."""
    cdef int target = to_square(check)
    cdef Bitboard through = without(hunt.occ, tables.square[hunt.king])
    return count(without(hunt.open, attacks(hunt.us, type_of(placed_piece(check)), target, through)))


cdef bint mate_in_three(Position *pos, int flights, Move *line, uint64_t *made) noexcept nogil:
    cdef Hunt hunt
    cdef Move moves[MAX_MOVES]
    cdef Move *check = moves
    cdef Move *last
    cdef bint found = False
    if pos.king[pos.side ^ 1] == NO_SQUARE:
        return False
    survey(pos, &hunt)
    last = generate_checks(pos, moves, False)
    while check != last and not found:
        line[0] = check[0]
        if flights_left(pos, &hunt, to_move32(pos, check[0])) <= flights:
            do_move(pos, check[0])
            made[0] += 1
            found = all_answers_lose(pos, line + 1, made)
            undo_move(pos)
        check += 1
    return found


init_check_origins()
