"""Mate in one, found on bitboards without making a move, and mate in three, which makes the check and the evasions.

An escape square is one to which the enemy king could go now. A drop that leaves one unattacked cannot mate; a board
move can only by discovering a slider. Every move that passes this test is verified exactly on the occupancy after it:
escapes, captures of the checker by pieces that are not pinned, interpositions by board moves and by drops.
"""

from libc.string cimport memcpy

from core_ext.shogi.bitboard cimport (
    all_squares, attacks, bishop_attacks, Bitboard, both, count, either, empty, files_without, has, lance_attacks,
    lowest, many, meet, pop, promotion_targets, rook_attacks, some, tables, without,
)
from core_ext.shogi.hand cimport HAND_PAWNS, hand_has, LEAST_FREE_HAND
from core_ext.shogi.movegen cimport generate_checks, generate_evasions, has_legal_move, plain_targets
from core_ext.shogi.position cimport (
    aligned_sliders, attacked, attackers, diagonal_sliders, do_move, hand_of, occupied, pieces, Position,
    slide_attackers, slider_blockers, State, step_attackers, straight_sliders, to_move32, undo_move,
)
from core_ext.shogi.types cimport *

cdef enum:
    NO_ORIGIN = NO_SQUARE   # origin of a drop: its bitboard is empty

# Squares from which a piece may give check with one move on some board: [colour][king][type].
cdef Bitboard check_origins[COLORS][SQUARES][PIECE_TYPES]

# The enemy king and its surroundings, computed once for a position. `us` is the side to move.
cdef struct KingInfo:
    int us
    int king
    Bitboard occ
    Bitboard xray           # lacks the king, which does not shield squares
    Bitboard neighbours     # the squares next to the king
    Bitboard escapes        # neighbours to which the king could go now
    # Squares from which a rook or a bishop would give a check that may mate.
    Bitboard straight, diagonal
    # Lines of our rooks and dragons, bishops and horses, and lances that point to the neighbours, also behind the king.
    Bitboard straight_reach, diagonal_reach, lance_reach
    Bitboard lines          # all three
    Bitboard discoverers    # our pieces that give check when they leave their line
    Bitboard allowed        # targets of our pieces: all squares, or those that meet a check


cdef Bitboard origins_to(int them, int piece_type, Bitboard targets) noexcept nogil:
    """Return the squares from which a piece of the other colour attacks one of `targets` on an empty board."""
    cdef Bitboard found = empty()
    while some(targets):
        found = either(found, attacks(them, piece_type, pop(&targets), empty()))
    return found


cdef void init_check_origins() noexcept nogil:
    cdef int us, king, piece_type
    cdef Bitboard targets, zone
    for us in range(COLORS):
        zone = tables.promotion_zone[us]
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


cdef inline void init_reach(const Position *pos, KingInfo *info) noexcept nogil:
    cdef Bitboard men = both(pos.color[info.us], diagonal_sliders(pos))
    cdef int square
    info.diagonal_reach = info.straight_reach = info.lance_reach = empty()
    while some(men):
        info.diagonal_reach = either(info.diagonal_reach, bishop_attacks(pop(&men), info.xray))
    men = both(pos.color[info.us], straight_sliders(pos))
    while some(men):
        info.straight_reach = either(info.straight_reach, rook_attacks(pop(&men), info.xray))
    men = both(pos.color[info.us], pos.kind[LANCE])
    while some(men):
        square = pop(&men)
        if meet(tables.forward[info.us][square], info.neighbours):
            info.lance_reach = either(info.lance_reach, lance_attacks(info.us, square, info.xray))
    info.lines = either(either(info.diagonal_reach, info.straight_reach), info.lance_reach)


cdef inline Bitboard steps_around(const Position *pos, const KingInfo *info) noexcept nogil:
    """Return attacks by steps of our pieces that are exact on the neighbours of the king."""
    cdef int us = info.us, square
    cdef Bitboard found = empty(), men = both(pos.color[us], tables.near_king[us ^ 1][info.king])
    while some(men):
        square = pop(&men)
        found = either(found, tables.step[us][type_of(pos.board[square])][square])
    return found


cdef inline void init_check_lines(const Position *pos, KingInfo *info) noexcept nogil:
    """Leave out distant squares if the defender holds a piece that can be dropped between wherever it is."""
    if hand_of(pos, info.us ^ 1) >= LEAST_FREE_HAND:
        info.straight = both(tables.rook_lines[info.king], info.neighbours)
        info.diagonal = both(tables.bishop_lines[info.king], info.neighbours)
    else:
        info.straight = rook_attacks(info.king, info.occ)
        info.diagonal = bishop_attacks(info.king, info.occ)


cdef inline void init_king_info(const Position *pos, KingInfo *info) noexcept nogil:
    cdef int us = pos.side, king = pos.king[us ^ 1]
    cdef Bitboard checkers = pos.state.checkers, direct
    info.us = us
    info.king = king
    info.occ = occupied(pos)
    info.neighbours = tables.step[0][KING][king]
    info.xray = without(info.occ, tables.square[king])
    init_reach(pos, info)
    info.escapes = without(info.neighbours, either(pos.color[us ^ 1], either(info.lines, steps_around(pos, info))))
    init_check_lines(pos, info)
    info.discoverers = slider_blockers(king, aligned_sliders(pos, king, us), info.occ, &direct)
    info.discoverers = both(info.discoverers, pos.color[us])
    info.allowed = all_squares()
    if many(checkers):
        info.allowed = empty()
    elif some(checkers):
        info.allowed = either(checkers, tables.between[pos.king[us]][lowest(checkers)])


cdef inline Bitboard check_squares(const KingInfo *info, int piece_type) noexcept nogil:
    """Return the squares from which a piece of the type checks the king on the current board."""
    if piece_type == LANCE:
        return both(info.straight, tables.forward[info.us ^ 1][info.king])
    if piece_type == BISHOP:
        return info.diagonal
    if piece_type == ROOK:
        return info.straight
    if piece_type == HORSE:
        return either(info.diagonal, info.neighbours)
    if piece_type == DRAGON:
        return either(info.straight, info.neighbours)
    if piece_type == KING:
        return empty()
    return tables.step[info.us ^ 1][piece_type][info.king]


cdef bint has_escape(const Position *pos, const KingInfo *info, int origin, Bitboard escapes,
                     Bitboard occ) noexcept nogil:
    """Return whether only the piece from `origin`, or none, attacks one of `escapes`; `occ` lacks the king."""
    cdef int us = info.us, square
    cdef Bitboard moved = tables.square[origin]
    cdef Bitboard lines = all_squares() if has(info.lines, origin) else info.lines      # the move may open lines
    while some(escapes):
        square = pop(&escapes)
        if not (some(without(step_attackers(pos, square, us), moved))
                or has(lines, square) and some(without(slide_attackers(pos, square, us, occ), moved))):
            return True
    return False


cdef Bitboard pinned_after(const Position *pos, const KingInfo *info, int origin, int target, int placed,
                           Bitboard occ) noexcept nogil:
    """Return the pieces that alone block a line to the king after the move; the defender's are pinned."""
    cdef Bitboard direct
    cdef Bitboard sliders = without(aligned_sliders(pos, info.king, info.us), tables.square[origin])
    if has(attacks(info.us ^ 1, placed, info.king, empty()), target):
        sliders = either(sliders, tables.square[target])
    return slider_blockers(info.king, sliders, occ, &direct)


cdef bint can_interpose_drop(const Position *pos, const KingInfo *info, int target, Bitboard between) noexcept nogil:
    """Return whether the defender can drop a piece on one of `between`, even a pawn that would (illegally) mate us."""
    cdef int them = info.us ^ 1
    cdef Hand hand = hand_of(pos, them)
    cdef Bitboard pawns
    if hand >= LEAST_FREE_HAND:
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


cdef bint can_move_to(const Position *pos, const KingInfo *info, int origin, int target, int placed, Bitboard squares,
                      Bitboard occ) noexcept nogil:
    """Return whether a piece of the defender, except the king, can go to one of `squares` after the move."""
    cdef Bitboard movers, gone = either(tables.square[info.king], tables.square[target]), pinned
    cdef bint known = False
    while some(squares):
        movers = without(attackers(pos, pop(&squares), info.us ^ 1, occ), gone)
        if not some(movers):
            continue
        if not known:
            pinned = pinned_after(pos, info, origin, target, placed, occ)
            known = True
        if some(without(movers, pinned)):
            return True
    return False


cdef bint may_be_drop_pawn_mate(const Position *pos, const KingInfo *info, Bitboard between) noexcept nogil:
    """Return whether the only interposing drop might be an illegal drop-pawn mate against us."""
    cdef int king = pos.king[info.us]
    if hand_of(pos, info.us ^ 1) & ~<Hand>HAND_PAWNS or king == NO_SQUARE:
        return False
    return meet(tables.step[info.us][PAWN][king], between)


cdef bint mates_on_copy(const Position *pos, Move move) noexcept nogil:
    """Make the move on a copy and return whether it mates: slow, for a very rare case."""
    cdef Position copy
    cdef State states[2]
    memcpy(&copy, pos, sizeof(Position))
    states[0] = pos.state[0]
    copy.states = states
    copy.state = states
    copy.capacity = 2
    do_move(&copy, move)
    return not has_legal_move(&copy)


cdef inline Bitboard possible_escapes(const Position *pos, const KingInfo *info, int origin, int target,
                                      Bitboard reached) noexcept nogil:
    """Return the neighbours that may be unattacked after a move whose piece then attacks `reached`."""
    cdef Bitboard square = tables.square[target], left = empty()
    cdef Bitboard escapes = without(info.neighbours, either(reached, without(pos.color[info.us ^ 1], square)))
    if origin == NO_ORIGIN:     # the target of a drop is attacked already
        escapes = without(escapes, square)
    if meet(info.lines, square):
        return escapes
    if origin != NO_ORIGIN:
        left = either(square, attacks(info.us, type_of(pos.board[origin]), origin, info.xray))
    return both(escapes, either(info.escapes, left))


cdef Move verify(const Position *pos, const KingInfo *info, Move move, int placed, bint discovers) noexcept nogil:
    """Return `move`, a legal check, if it mates, else NO_MOVE; `discovers` if it gives a discovered check (too)."""
    cdef int us = info.us, king = info.king, target = to_square(move)
    cdef int origin = NO_ORIGIN if is_drop(move) else from_square(move), checker
    cdef Bitboard occ = either(without(info.occ, tables.square[origin]), tables.square[target])
    cdef Bitboard xray = without(occ, tables.square[king])
    cdef Bitboard reached = attacks(us, placed, target, xray)
    cdef Bitboard escapes = possible_escapes(pos, info, origin, target, reached), checkers, between
    if some(escapes) and has_escape(pos, info, origin, escapes, xray):
        return NO_MOVE
    checkers = tables.square[target] if has(reached, king) else empty()
    if discovers:
        checkers = either(checkers, without(slide_attackers(pos, king, us, occ), tables.square[origin]))
    if many(checkers):
        return move
    checker = lowest(checkers)
    between = tables.between[king][checker]
    if can_move_to(pos, info, origin, target, placed, either(between, checkers), occ):
        return NO_MOVE
    if not some(between) or not can_interpose_drop(pos, info, target, between):
        return move
    return move if may_be_drop_pawn_mate(pos, info, between) and mates_on_copy(pos, move) else NO_MOVE


cdef inline Bitboard covering(const KingInfo *info, int piece_type, Bitboard targets) noexcept nogil:
    """Return the squares of `targets` from which a piece of the type attacks every escape square."""
    cdef Bitboard escapes = info.escapes
    while some(targets) and some(escapes):
        targets = both(targets, attacks(info.us ^ 1, piece_type, pop(&escapes), info.xray))
    return targets


cdef Move mate_by_drop(const Position *pos, const KingInfo *info, int piece_type) noexcept nogil:
    cdef int us = info.us, target
    cdef Bitboard targets = both(both(check_squares(info, piece_type), tables.drop_ranks[us][piece_type]), info.allowed)
    cdef Move move
    # The king could capture on an escape square. Elsewhere a drop takes no other escape square by blocking a line.
    targets = covering(info, piece_type, without(targets, either(info.occ, info.escapes)))
    while some(targets):
        target = pop(&targets)
        move = verify(pos, info, drop_move(piece_type, target), piece_type, False)
        if move:
            return move
    return NO_MOVE


cdef inline Move mate_by_drops(const Position *pos, const KingInfo *info) noexcept nogil:
    """Try all drops except pawns: a pawn drop may not mate."""
    cdef Hand hand = hand_of(pos, info.us)
    cdef int piece_type
    cdef Move move
    if not hand & ~<Hand>HAND_PAWNS:
        return NO_MOVE
    for piece_type in range(GOLD, PAWN, -1):
        if hand_has(hand, piece_type):
            move = mate_by_drop(pos, info, piece_type)
            if move:
                return move
    return NO_MOVE


cdef inline Bitboard off_line_targets(const KingInfo *info, int origin, Bitboard targets) noexcept nogil:
    """Return the squares of `targets` on which the piece from `origin` gives a discovered check."""
    if not has(info.discoverers, origin):
        return empty()
    return without(targets, tables.line[info.king][origin])


cdef Move mate_on(const Position *pos, const KingInfo *info, int origin, Bitboard targets, Bitboard discovering,
                  int placed) noexcept nogil:
    cdef int target
    cdef Move move
    if not has(info.lines, origin):     # the move opens no line
        targets = covering(info, placed, targets)
    while some(targets):
        target = pop(&targets)
        move = board_move(origin, target)
        if placed != type_of(pos.board[origin]):
            move = promotion_move(origin, target)
        move = verify(pos, info, move, placed, has(discovering, target))
        if move:
            return move
    return NO_MOVE


cdef inline Move mate_among(const Position *pos, const KingInfo *info, int origin, Bitboard targets,
                            Bitboard discovering, int placed) noexcept nogil:
    """Find a mate by the piece on `origin` on one of `targets`; its type after the move is `placed`."""
    targets = both(targets, either(check_squares(info, placed), discovering))
    return mate_on(pos, info, origin, targets, discovering, placed) if some(targets) else NO_MOVE


cdef Move mate_by_piece(const Position *pos, const KingInfo *info, int origin) noexcept nogil:
    cdef int us = info.us, piece_type = type_of(pos.board[origin])
    cdef Bitboard targets, discovering, promotable
    cdef Move move
    targets = both(without(attacks(us, piece_type, origin, info.occ), pos.color[us]), info.allowed)
    if has(pos.state.pinned, origin):
        targets = both(targets, tables.line[pos.king[us]][origin])
    discovering = off_line_targets(info, origin, targets)
    if can_promote(piece_type):
        promotable = promotion_targets(us, origin, targets)
        move = mate_among(pos, info, origin, promotable, discovering, piece_type + PROMOTED)
        if move:
            return move
        # A dominated move mates alone only if a discovered check forces a drop-pawn mate.
        targets = plain_targets(us, piece_type, targets, promotable, some(discovering))
    return mate_among(pos, info, origin, targets, discovering, piece_type)


cdef Move mate_by_king(const Position *pos, const KingInfo *info) noexcept nogil:
    """Find a mate by a king move that discovers a check."""
    cdef int us = info.us, king = pos.king[us], target
    cdef Bitboard targets = without(tables.step[us][KING][king], pos.color[us])
    cdef Bitboard occ = without(info.occ, tables.square[king])
    cdef Move move
    targets = off_line_targets(info, king, targets)
    while some(targets):
        target = pop(&targets)
        if attacked(pos, target, us ^ 1, occ):
            continue
        move = verify(pos, info, board_move(king, target), KING, True)
        if move:
            return move
    return NO_MOVE


cdef inline Bitboard checking_pieces(const Position *pos, const KingInfo *info) noexcept nogil:
    """Return our pieces that may be able to give check with one move."""
    cdef const Bitboard *origins = check_origins[info.us][info.king]
    cdef Bitboard found = both(origins[PAWN], pos.kind[PAWN])
    cdef Bitboard straight = either(info.straight, info.neighbours)
    found = either(found, both(origins[KNIGHT], pos.kind[KNIGHT]))
    found = either(found, both(origins[SILVER], pos.kind[SILVER]))
    found = either(found, both(origins[GOLD], pos.kind[GOLDS]))
    found = either(found, either(pos.kind[HORSE], pos.kind[DRAGON]))    # their steps are not in their reach
    if meet(info.lance_reach, straight):
        found = either(found, pos.kind[LANCE])
    if meet(info.straight_reach, straight):
        found = either(found, pos.kind[ROOK])
    if meet(info.diagonal_reach, either(info.diagonal, info.neighbours)):
        found = either(found, pos.kind[BISHOP])
    return both(either(found, info.discoverers), pos.color[info.us])


cdef inline Move mate_by_moves(const Position *pos, const KingInfo *info) noexcept nogil:
    cdef Bitboard movers = checking_pieces(pos, info)
    cdef int origin, own_king = pos.king[info.us]
    cdef Move move
    if own_king != NO_SQUARE:
        if has(info.discoverers, own_king):
            move = mate_by_king(pos, info)
            if move:
                return move
        movers = without(movers, tables.square[own_king])
    while some(movers):
        origin = pop(&movers)
        move = mate_by_piece(pos, info, origin)
        if move:
            return move
    return NO_MOVE


cdef Move mate_in_one_and_escapes(const Position *pos, int *escapes) noexcept nogil:
    cdef KingInfo info
    cdef Move move
    escapes[0] = 0
    if pos.king[pos.side ^ 1] == NO_SQUARE:
        return NO_MOVE
    init_king_info(pos, &info)
    escapes[0] = count(info.escapes)
    move = mate_by_drops(pos, &info)
    return move if move else mate_by_moves(pos, &info)


cdef Move mate_in_one(const Position *pos) noexcept nogil:
    cdef int escapes
    return mate_in_one_and_escapes(pos, &escapes)


cdef bint mates_all_evasions(Position *pos, Move *line, uint64_t *nodes) noexcept nogil:
    """Return whether there are evasions and each allows a mate in one; `line` gets the last evasion and its mate."""
    cdef Move moves[MAX_MOVES]
    cdef Move *evasion = moves
    cdef Move *last = generate_evasions(pos, moves, True)
    if last == moves:
        return False
    while evasion != last:
        line[0] = evasion[0]
        do_move(pos, evasion[0])
        nodes[0] += 1
        line[1] = mate_in_one(pos)
        undo_move(pos)
        if not line[1]:
            return False
        evasion += 1
    return True


cdef inline int escapes_after(const KingInfo *info, Move32 check) noexcept nogil:
    """Estimate the number of escape squares after a check, ignoring lines that the move opens or blocks."""
    return count(without(info.escapes, attacks(info.us, type_of(placed_piece(check)), to_square(check), info.xray)))


cdef bint mate_in_three(Position *pos, int max_escapes, Move *line, uint64_t *nodes) noexcept nogil:
    cdef KingInfo info
    cdef Move moves[MAX_MOVES]
    cdef Move *check = moves
    cdef Move *last
    cdef bint found = False
    if pos.king[pos.side ^ 1] == NO_SQUARE:
        return False
    init_king_info(pos, &info)
    last = generate_checks(pos, moves, False)
    while check != last and not found:
        line[0] = check[0]
        if escapes_after(&info, to_move32(pos, check[0])) <= max_escapes:
            do_move(pos, check[0])
            nodes[0] += 1
            found = mates_all_evasions(pos, line + 1, nodes)
            undo_move(pos)
        check += 1
    return found


init_check_origins()
