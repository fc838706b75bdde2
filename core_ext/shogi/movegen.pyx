"""Move generation. One source serves both colours; the C compiler specialises it for each constant `us`."""

from core_ext.shogi.bitboard cimport (
    all_squares, attacks, bishop_attacks, Bitboard, both, either, empty, files_without, has, LOW_SQUARES, lowest,
    lowest_bit, many, meet, pop, promotion_targets, rook_attacks, shift_forward, some, store_sums, tables, without,
)
from core_ext.base.debug cimport ASSERT
from core_ext.shogi.hand cimport HAND_PAWNS, hand_has
from core_ext.shogi.position cimport (
    attacked, attackers, do_move, find_checkers, hand_of, in_check, occupied, pieces, Position, slide_attackers,
    step_attackers, to_move32, undo_move,
)
from core_ext.shogi.types cimport *


# ---- writing moves ----

cdef inline Move *write_moves(Move *out, int base, Bitboard targets) noexcept nogil:
    """Write one move per target: `base` (origin and promotion bits) plus the square."""
    cdef uint64_t low = targets.low, high = targets.high
    while low:
        out[0] = <Move>(base + lowest_bit(low))
        low &= low - 1
        out += 1
    while high:
        out[0] = <Move>(base + LOW_SQUARES + lowest_bit(high))
        high &= high - 1
        out += 1
    return out


cdef inline Move *write_piece(Move *out, int us, int piece_type, int origin, Bitboard targets,
                              bint include_all) noexcept nogil:
    """Write all moves of one piece to `targets`, promotions first."""
    cdef int base = origin << 7
    cdef Bitboard promotable
    if not can_promote(piece_type):
        return write_moves(out, base, targets)
    promotable = promotion_targets(us, origin, targets)
    if not some(promotable):
        return write_moves(out, base, targets)
    out = write_moves(out, base | PROMOTION, promotable)
    return write_moves(out, base, plain_targets(us, piece_type, targets, promotable, include_all))


# ---- board moves ----

cdef inline Move *unpinned_moves(Move *out, int us, int piece_type, Bitboard movers, Bitboard occ,
                                 Bitboard target, bint include_all) noexcept nogil:
    """Write the moves of the pieces in `movers`, which have one type and are not pinned."""
    cdef Bitboard targets
    cdef int origin
    while some(movers):
        origin = pop(&movers)
        targets = both(attacks(us, piece_type, origin, occ), target)
        if some(targets):
            out = write_piece(out, us, piece_type, origin, targets, include_all)
    return out


cdef inline Move *write_pawns(Move *out, int us, Bitboard targets, bint include_all) noexcept nogil:
    """Write pawn moves to `targets`; the origin is one rank behind each."""
    cdef int behind = (1 if us == BLACK else -1) << 7
    cdef Bitboard promotable = both(targets, tables.promotion_zone[us])
    cdef Bitboard plain = plain_targets(us, PAWN, targets, promotable, include_all)
    cdef int square
    while some(promotable):
        square = pop(&promotable)
        out[0] = <Move>(PROMOTION + behind + (square << 7) + square)
        out += 1
    while some(plain):
        square = pop(&plain)
        out[0] = <Move>(behind + (square << 7) + square)
        out += 1
    return out


cdef Move *pinned_moves(const Position *pos, Move *out, int us, Bitboard target, Bitboard pawn_target,
                        bint include_all) noexcept nogil:
    """Write moves of the pinned pieces, which stay on the line through their king."""
    cdef Bitboard pinned = pos.state.pinned, occ = occupied(pos), targets
    cdef int origin, piece_type
    while some(pinned):
        origin = pop(&pinned)
        piece_type = type_of(pos.board[origin])
        targets = both(attacks(us, piece_type, origin, occ), tables.line[pos.king[us]][origin])
        targets = both(targets, pawn_target if piece_type == PAWN else target)
        out = write_piece(out, us, piece_type, origin, targets, include_all)
    return out


cdef inline Move *piece_moves(const Position *pos, Move *out, int us, Bitboard target, Bitboard pawn_target,
                              bint include_all) noexcept nogil:
    """Write legal moves of all pieces except the king to `target` (pawns: to `pawn_target`)."""
    cdef Bitboard movers = without(pos.color[us], pos.state.pinned)
    cdef Bitboard occ = occupied(pos), pawns
    # A published problem may have a pawn on its last rank: shifting it would wrap to the next file.
    pawns = both(both(movers, pos.kind[PAWN]), tables.drop_ranks[us][PAWN])
    out = write_pawns(out, us, both(shift_forward(us, pawns), pawn_target), include_all)
    out = unpinned_moves(out, us, LANCE, both(movers, pos.kind[LANCE]), occ, target, include_all)
    out = unpinned_moves(out, us, KNIGHT, both(movers, pos.kind[KNIGHT]), occ, target, include_all)
    out = unpinned_moves(out, us, SILVER, both(movers, pos.kind[SILVER]), occ, target, include_all)
    out = unpinned_moves(out, us, BISHOP, both(movers, pos.kind[BISHOP]), occ, target, include_all)
    out = unpinned_moves(out, us, ROOK, both(movers, pos.kind[ROOK]), occ, target, include_all)
    out = unpinned_moves(out, us, GOLD, both(movers, pos.kind[GOLDS]), occ, target, include_all)
    out = unpinned_moves(out, us, HORSE, both(movers, pos.kind[HORSE]), occ, target, include_all)
    out = unpinned_moves(out, us, DRAGON, both(movers, pos.kind[DRAGON]), occ, target, include_all)
    if some(pos.state.pinned):
        out = pinned_moves(pos, out, us, target, pawn_target, include_all)
    return out


cdef inline Bitboard safe_squares(const Position *pos, int us, Bitboard targets, Bitboard occ) noexcept nogil:
    """Return the squares of `targets`, all next to the king of `us`, that the enemy does not attack given `occ`."""
    cdef Bitboard safe = empty()
    cdef int target
    cdef bint steppers = meet(tables.near_king[us][pos.king[us]], pos.color[us ^ 1])
    while some(targets):
        target = pop(&targets)
        if steppers and some(step_attackers(pos, target, us ^ 1)):
            continue
        if not some(slide_attackers(pos, target, us ^ 1, occ)):
            safe = either(safe, tables.square[target])
    return safe


cdef inline Move *king_moves(const Position *pos, Move *out, int us, Bitboard target) noexcept nogil:
    """Write legal king moves to `target`; the king does not shield the square behind it from a slider."""
    cdef int king = pos.king[us]
    cdef Bitboard targets, occ
    if king == NO_SQUARE:
        return out
    targets = both(tables.step[us][KING][king], target)
    occ = without(occupied(pos), tables.square[king])
    return write_moves(out, king << 7, safe_squares(pos, us, targets, occ))


# ---- drops ----

cdef inline int drop_words(Hand hand, int first, Move *words) noexcept nogil:
    """Write one drop for each type in hand, in the order P L N S B R G from `first` on, with 0 as its target."""
    cdef int piece_type, held = 0
    for piece_type in range(first, GOLD + 1):
        words[held] = <Move>((DROP_ORIGIN + piece_type) << 7)
        held += hand_has(hand, piece_type)
    return held


cdef inline Move *write_drops(Move *out, const Move *words, int held, Bitboard targets) noexcept nogil:
    """Write every drop of `words` to every target; one store writes eight moves."""
    cdef uint64_t low = targets.low, high = targets.high
    while low:
        store_sums(out, words, lowest_bit(low))
        low &= low - 1
        out += held
    while high:
        store_sums(out, words, LOW_SQUARES + lowest_bit(high))
        high &= high - 1
        out += held
    return out


cdef inline Bitboard pawn_drops(const Position *pos, int us, Bitboard targets) noexcept nogil:
    """Return the squares of legal pawn drops: no own pawn on the file (nifu), a move left, no mate by the drop."""
    cdef int king = pos.king[us ^ 1]
    cdef Bitboard front
    targets = both(both(targets, files_without(pieces(pos, us, PAWN))), tables.drop_ranks[us][PAWN])
    if king != NO_SQUARE:
        front = both(tables.step[us ^ 1][PAWN][king], targets)
        if some(front) and is_drop_pawn_mate(pos, lowest(front)):
            targets = without(targets, front)
    return targets


cdef inline Move *far_drops(Hand hand, Move *out, int us, Bitboard targets) noexcept nogil:
    """Write drops of all types except pawns to the last two ranks: no lance to the last, no knight to either."""
    cdef Move words[16]
    cdef Bitboard second = both(targets, tables.drop_ranks[us][LANCE])
    cdef int held = drop_words(hand, SILVER, words)
    out = write_drops(out, words, held, without(targets, second))
    if hand_has(hand, LANCE):
        words[held] = <Move>((DROP_ORIGIN + LANCE) << 7)
        held += 1
    return write_drops(out, words, held, second)


cdef inline Move *drops_to(const Position *pos, Move *out, int us, Bitboard targets) noexcept nogil:
    """Write all legal drops on the empty squares `targets`."""
    cdef Hand hand = hand_of(pos, us)
    cdef Move words[16]
    cdef Bitboard near, pawns
    cdef int held
    if hand == 0 or not some(targets):
        return out
    near = both(targets, tables.drop_ranks[us][KNIGHT])
    if hand & HAND_PAWNS:
        pawns = pawn_drops(pos, us, targets)
        out = write_moves(out, (DROP_ORIGIN + PAWN) << 7, without(pawns, near))
        held = drop_words(hand, PAWN, words)
        out = write_drops(out, words, held, both(pawns, near))
        near = without(near, pawns)
    if hand & ~<Hand>HAND_PAWNS:
        held = drop_words(hand, LANCE, words)
        out = write_drops(out, words, held, near)
        out = far_drops(hand, out, us, without(targets, tables.drop_ranks[us][KNIGHT]))
    return out


cdef bint is_drop_pawn_mate(const Position *pos, int square) noexcept nogil:
    """Return whether a pawn dropped on the empty `square` in front of the enemy king mates it. Exact."""
    cdef int us = pos.side, them = us ^ 1, king = pos.king[them], taker
    cdef Bitboard occ = either(occupied(pos), tables.square[square])
    cdef Bitboard takers, checkers, blockers, escapes
    takers = without(attackers(pos, square, them, occ), tables.square[king])
    if some(takers):
        find_checkers(pos, them, &checkers, &blockers)
        while some(takers):
            taker = pop(&takers)
            if not has(blockers, taker) or has(tables.line[king][taker], square):
                return False
    escapes = without(tables.step[them][KING][king], pos.color[them])
    return not some(safe_squares(pos, them, escapes, without(occ, tables.square[king])))


# ---- generators ----

cdef inline Bitboard empty_squares(const Position *pos) noexcept nogil:
    return without(all_squares(), occupied(pos))


cdef Move *generate_captures(const Position *pos, Move *out) noexcept nogil:
    cdef int us = pos.side
    cdef Bitboard enemies = pos.color[us ^ 1]
    cdef Bitboard pawn_target = either(enemies, both(tables.promotion_zone[us], empty_squares(pos)))
    if us == BLACK:
        out = piece_moves(pos, out, BLACK, enemies, pawn_target, False)
    else:
        out = piece_moves(pos, out, WHITE, enemies, pawn_target, False)
    return king_moves(pos, out, us, enemies)


cdef Move *generate_quiets(const Position *pos, Move *out) noexcept nogil:
    cdef int us = pos.side
    cdef Bitboard target = empty_squares(pos)
    cdef Bitboard pawn_target = without(target, tables.promotion_zone[us])
    if us == BLACK:
        out = piece_moves(pos, out, BLACK, target, pawn_target, False)
    else:
        out = piece_moves(pos, out, WHITE, target, pawn_target, False)
    return king_moves(pos, out, us, target)


cdef Move *generate_drops(const Position *pos, Move *out) noexcept nogil:
    cdef Bitboard free = empty_squares(pos)
    return drops_to(pos, out, BLACK, free) if pos.side == BLACK else drops_to(pos, out, WHITE, free)


cdef inline Move *evasions(const Position *pos, Move *out, int us, bint include_all) noexcept nogil:
    cdef Bitboard checkers = pos.state.checkers, between
    out = king_moves(pos, out, us, without(all_squares(), pos.color[us]))
    if many(checkers):
        return out
    between = tables.between[pos.king[us]][lowest(checkers)]
    out = piece_moves(pos, out, us, either(between, checkers), either(between, checkers), include_all)
    return drops_to(pos, out, us, between)


cdef Move *generate_evasions(const Position *pos, Move *out, bint include_all) noexcept nogil:
    ASSERT(in_check(pos))
    return evasions(pos, out, BLACK, include_all) if pos.side == BLACK else evasions(pos, out, WHITE, include_all)


cdef inline Move *non_evasions(const Position *pos, Move *out, int us, bint include_all) noexcept nogil:
    cdef Bitboard target = without(all_squares(), pos.color[us])
    out = piece_moves(pos, out, us, target, target, include_all)
    out = king_moves(pos, out, us, target)
    return drops_to(pos, out, us, without(target, pos.color[us ^ 1]))


cdef Move *generate_legal(const Position *pos, Move *out, bint include_all) noexcept nogil:
    if in_check(pos):
        return generate_evasions(pos, out, include_all)
    if pos.side == BLACK:
        return non_evasions(pos, out, BLACK, include_all)
    return non_evasions(pos, out, WHITE, include_all)


cdef Move *generate_pseudo_legal(const Position *pos, Move *out, bint include_all) noexcept nogil:
    cdef int us = pos.side, origin, piece_type
    cdef Bitboard men = pos.color[us], occ = occupied(pos), targets
    cdef Bitboard free = empty_squares(pos)
    while some(men):
        origin = pop(&men)
        piece_type = type_of(pos.board[origin])
        targets = without(attacks(us, piece_type, origin, occ), pos.color[us])
        out = write_piece(out, us, piece_type, origin, targets, include_all)
    for piece_type in range(PAWN, GOLD + 1):
        if hand_has(hand_of(pos, us), piece_type):
            targets = both(free, tables.drop_ranks[us][piece_type])
            if piece_type == PAWN:
                targets = both(targets, files_without(pieces(pos, us, PAWN)))
            out = write_moves(out, (DROP_ORIGIN + piece_type) << 7, targets)
    return out


cdef bint has_legal_move(const Position *pos) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    return generate_legal(pos, moves, True) != moves


cdef uint64_t perft(Position *pos, int depth) noexcept nogil:
    """Count the moves of the last ply without making them."""
    cdef Move moves[MAX_MOVES]
    cdef Move *last
    cdef Move *move = moves
    cdef uint64_t leaves = 0
    if depth == 0:
        return 1
    last = generate_legal(pos, moves, True)
    if depth == 1:
        return last - moves
    while move != last:
        do_move(pos, move[0])
        leaves += perft(pos, depth - 1)
        undo_move(pos)
        move += 1
    return leaves


# ---- checks ----

cdef void init_check_info(const Position *pos, CheckInfo *info) noexcept nogil:
    cdef int us = pos.side, king = pos.king[us ^ 1], piece_type
    cdef Bitboard checkers, blockers, occ = occupied(pos), diagonal, straight
    info.king = king
    if king == NO_SQUARE:
        for piece_type in range(PIECE_TYPES):
            info.squares[piece_type] = empty()
        info.discoverers = empty()
        return
    find_checkers(pos, us ^ 1, &checkers, &blockers)
    info.discoverers = both(blockers, pos.color[us])
    for piece_type in range(PIECE_TYPES):
        info.squares[piece_type] = tables.step[us ^ 1][piece_type][king]
    diagonal = bishop_attacks(king, occ)
    straight = rook_attacks(king, occ)
    info.squares[LANCE] = both(straight, tables.forward[us ^ 1][king])
    info.squares[BISHOP] = diagonal
    info.squares[ROOK] = straight
    info.squares[HORSE] = either(diagonal, info.squares[KING])
    info.squares[DRAGON] = either(straight, info.squares[KING])
    info.squares[KING] = empty()


cdef Move *checks_of_piece(const Position *pos, Move *out, const CheckInfo *info, int origin, Bitboard targets,
                           bint include_all) noexcept nogil:
    """Write the moves of one piece to `targets` that give check."""
    cdef int us = pos.side, piece_type = type_of(pos.board[origin])
    cdef Bitboard plain, promoted, promotable, discovered = empty()
    if has(info.discoverers, origin):
        discovered = without(targets, tables.line[info.king][origin])
    plain = either(info.squares[piece_type], discovered)
    if not can_promote(piece_type):
        return write_moves(out, origin << 7, both(targets, plain))
    promoted = either(info.squares[piece_type + PROMOTED], discovered)
    promotable = promotion_targets(us, origin, targets)
    out = write_moves(out, origin << 7 | PROMOTION, both(promotable, promoted))
    return write_moves(out, origin << 7, both(plain, plain_targets(us, piece_type, targets, promotable, include_all)))


cdef Move *checking_drops(const Position *pos, Move *out, const CheckInfo *info) noexcept nogil:
    cdef int us = pos.side, piece_type
    cdef Hand hand = hand_of(pos, us)
    cdef Bitboard free = empty_squares(pos), targets
    for piece_type in range(PAWN, GOLD + 1):
        if not hand_has(hand, piece_type):
            continue
        targets = both(both(free, info.squares[piece_type]), tables.drop_ranks[us][piece_type])
        if piece_type == PAWN:
            targets = pawn_drops(pos, us, targets)
        out = write_moves(out, (DROP_ORIGIN + piece_type) << 7, targets)
    return out


cdef Move *checking_moves(const Position *pos, Move *out, const CheckInfo *info, bint include_all) noexcept nogil:
    """Write board moves that give check. The side to move is not in check."""
    cdef int us = pos.side, origin, piece_type, king = pos.king[us]
    cdef Bitboard men = pos.color[us], occ = occupied(pos), targets
    while some(men):
        origin = pop(&men)
        piece_type = type_of(pos.board[origin])
        targets = without(attacks(us, piece_type, origin, occ), pos.color[us])
        if has(pos.state.pinned, origin):
            targets = both(targets, tables.line[king][origin])
        if not some(targets):
            continue
        if piece_type == KING:
            if not has(info.discoverers, origin):
                continue
            targets = safe_squares(pos, us, targets, without(occ, tables.square[origin]))
        out = checks_of_piece(pos, out, info, origin, targets, include_all)
    return out


cdef Move *filter_checks(const Position *pos, const CheckInfo *info, Move *first, Move *last) noexcept nogil:
    """Keep only the moves that give check in a list of legal moves; return its new end."""
    cdef Move *out = first
    while first != last:
        if gives_check(info, to_move32(pos, first[0])):
            out[0] = first[0]
            out += 1
        first += 1
    return out


cdef Move *generate_checks(const Position *pos, Move *out, bint include_all) noexcept nogil:
    cdef CheckInfo info
    init_check_info(pos, &info)
    if info.king == NO_SQUARE:
        return out
    if in_check(pos):
        return filter_checks(pos, &info, out, generate_evasions(pos, out, include_all))
    out = checking_moves(pos, out, &info, include_all)
    return checking_drops(pos, out, &info)


cdef bint is_legal_drop(const Position *pos, Move move) noexcept nogil:
    cdef int us = pos.side, target = to_square(move), piece_type = dropped_type(move)
    cdef Bitboard checkers = pos.state.checkers
    if piece_type > GOLD or not hand_has(hand_of(pos, us), piece_type):
        return False
    if pos.board[target] or not has(tables.drop_ranks[us][piece_type], target) or is_promotion(move):
        return False
    if some(checkers) and (many(checkers) or not has(tables.between[pos.king[us]][lowest(checkers)], target)):
        return False
    return piece_type != PAWN or has(pawn_drops(pos, us, tables.square[target]), target)


cdef bint is_pseudo_legal(const Position *pos, Move move) noexcept nogil:
    """Return whether this board move obeys the rules of movement and promotion; king safety is not checked."""
    cdef int us = pos.side, origin = from_square(move), target = to_square(move)
    cdef int piece = pos.board[origin], piece_type = type_of(piece)
    if not piece or color_of(piece) != us or has(pos.color[us], target):
        return False
    if is_promotion(move):
        if not can_promote(piece_type) or not (in_promotion_zone(us, origin) or in_promotion_zone(us, target)):
            return False
    elif not has(tables.drop_ranks[us][piece_type], target):
        return False
    return has(attacks(us, piece_type, origin, occupied(pos)), target)


cdef bint leaves_king_safe(const Position *pos, Move move) noexcept nogil:
    """Return whether a pseudo-legal board move leaves the king of the side to move unattacked."""
    cdef int us = pos.side, origin = from_square(move), target = to_square(move), king = pos.king[us]
    cdef Bitboard checkers = pos.state.checkers
    if king == NO_SQUARE:
        return True
    if origin == king:
        return not attacked(pos, target, us ^ 1, without(occupied(pos), tables.square[king]))
    if has(pos.state.pinned, origin) and not has(tables.line[king][origin], target):
        return False
    if not some(checkers):
        return True
    return not many(checkers) and (has(checkers, target) or has(tables.between[king][lowest(checkers)], target))


cdef bint is_legal(const Position *pos, Move move) noexcept nogil:
    if to_square(move) >= NO_SQUARE or from_square(move) == NO_SQUARE or move >> 15:
        return False
    if is_drop(move):
        return is_legal_drop(pos, move)
    return is_pseudo_legal(pos, move) and leaves_king_safe(pos, move)
