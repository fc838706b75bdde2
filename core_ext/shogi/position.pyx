"""Making and unmaking moves, hash keys, repetition and declaration."""

from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from core_ext.shogi.bitboard cimport Bitboard, both, count, differ, either, empty, has, pop, same, some, tables, without
from core_ext.base.debug cimport ASSERT
from core_ext.base.memory cimport allocate, reallocate
from core_ext.shogi.hand cimport hand_count, hand_covers, hand_one
from core_ext.shogi.types cimport *
from core_ext.shogi.zobrist cimport zobrist


cdef int allocate_position(Position *pos, int capacity) except -1 nogil:
    """Allocate room for `capacity` plies; MemoryError if there is no memory."""
    pos.states = <State *>allocate(capacity * sizeof(State))
    pos.capacity = capacity
    if pos.states == NULL:
        with gil:
            raise MemoryError(f"no memory for a game of {capacity} plies")
    clear_position(pos)
    return 0


cdef void free_position(Position *pos) noexcept nogil:
    free(pos.states)
    pos.states = NULL


cdef int reserve_plies(Position *pos, int plies) except -1 nogil:
    """Make room for `plies` more moves."""
    return make_room(pos, game_length(pos) + plies)


cdef int make_room(Position *pos, int plies) except -1 nogil:
    """Make room for `plies` moves altogether; without memory nothing changes."""
    cdef int length = game_length(pos), capacity = 2 * (plies + 1)
    cdef State *states
    if plies < pos.capacity:
        return 0
    states = <State *>reallocate(pos.states, capacity * sizeof(State))
    if states == NULL:
        with gil:
            raise MemoryError(f"no memory for a game of {capacity} plies")
    pos.states = states
    pos.state = states + length
    pos.capacity = capacity
    return 0


cdef int copy_position(Position *pos, const Position *other, int plies) except -1 nogil:
    """Copy `other` with its game into the allocated `pos`, with room for `plies` more moves."""
    cdef State *states
    cdef int length = game_length(other)
    cdef int capacity
    make_room(pos, length + plies)
    states = pos.states
    capacity = pos.capacity
    memcpy(pos, other, sizeof(Position))
    pos.states = states
    pos.capacity = capacity
    pos.state = states + length
    memcpy(states, other.states, (length + 1) * sizeof(State))
    return 0


cdef void clear_position(Position *pos) noexcept nogil:
    """Set up an empty board, Black to move, without earlier moves."""
    memset(pos.kind, 0, sizeof(pos.kind))
    memset(pos.color, 0, sizeof(pos.color))
    memset(pos.board, 0, sizeof(pos.board))
    memset(pos.seen, 0, sizeof(pos.seen))
    pos.king[BLACK] = NO_SQUARE
    pos.king[WHITE] = NO_SQUARE
    pos.side = BLACK
    pos.ply = 1
    pos.state = pos.states
    memset(pos.state, 0, sizeof(State))


cdef inline void toggle(Position *pos, int color, int piece_type, Bitboard squares) noexcept nogil:
    """Add a piece to the bitboards or remove it."""
    pos.kind[piece_type] = differ(pos.kind[piece_type], squares)
    pos.color[color] = differ(pos.color[color], squares)
    if moves_like_gold(piece_type):
        pos.kind[GOLDS] = differ(pos.kind[GOLDS], squares)


cdef void put_piece(Position *pos, int piece, int square) noexcept nogil:
    """Put a piece on an empty square. begin_game must follow."""
    toggle(pos, color_of(piece), type_of(piece), tables.square[square])
    pos.board[square] = piece
    if type_of(piece) == KING:
        pos.king[color_of(piece)] = square


cdef inline int group_of(int piece) noexcept nogil:
    return GROUP_PAWNS if type_of(piece) == PAWN else GROUP_PIECES + color_of(piece)


cdef uint64_t group_key_of(const Position *pos, int group) noexcept nogil:
    cdef uint64_t key = 0
    cdef int square
    for square in range(SQUARES):
        if group_of(pos.board[square]) == group:
            key ^= zobrist.board[pos.board[square]][square]
    return key


cdef uint64_t board_key_of(const Position *pos) noexcept nogil:
    """Combine the keys of the groups, which contain every piece once, and of the side to move."""
    return (group_key_of(pos, GROUP_PAWNS) ^ group_key_of(pos, GROUP_PIECES) ^ group_key_of(pos, GROUP_PIECES + 1)
            ^ (zobrist.side if pos.side == WHITE else 0))


cdef uint64_t hand_key_of(const Position *pos) noexcept nogil:
    cdef uint64_t key = 0
    cdef int color, piece_type
    for color in range(COLORS):
        for piece_type in range(PAWN, GOLD + 1):
            key += hand_count(pos.state.hand[color], piece_type) * zobrist.hand[color][piece_type]
    return key


cdef void begin_game(Position *pos) noexcept nogil:
    """Compute keys, checkers and pinned pieces after pieces, hands and the side to move were set up."""
    cdef State *state = pos.state
    cdef int group
    state.board_key = board_key_of(pos)
    for group in range(GROUPS):
        state.group_keys[group] = group_key_of(pos, group)
    state.hand_key = hand_key_of(pos)
    update_checkers(pos, state)
    state.checks[pos.side ^ 1] = 1 if some(state.checkers) else 0


cdef void find_checkers(const Position *pos, int us, Bitboard *checkers, Bitboard *blockers) noexcept nogil:
    cdef int king = pos.king[us], them = us ^ 1
    cdef Bitboard direct
    checkers[0] = empty()
    blockers[0] = empty()
    if king == NO_SQUARE:
        return
    blockers[0] = slider_blockers(king, aligned_sliders(pos, king, them), occupied(pos), &direct)
    checkers[0] = either(direct, step_attackers(pos, king, them))


cdef inline void update_checkers(Position *pos, State *state) noexcept nogil:
    """Set the checkers and pinned pieces of the side to move."""
    find_checkers(pos, pos.side, &state.checkers, &state.pinned)
    state.pinned = both(state.pinned, pos.color[pos.side])


# ---- the same from scratch, asserted after every move of a debug build ----

cdef Bitboard pinned_of(const Position *pos) noexcept nogil:
    """Return the pieces of the side to move whose removal exposes its king to another attacker."""
    cdef int us = pos.side, king = pos.king[us], square
    cdef Bitboard found = empty(), own = pos.color[us], occ = occupied(pos), exposed
    if king == NO_SQUARE:
        return found
    while some(own):
        square = pop(&own)
        exposed = slide_attackers(pos, king, us ^ 1, without(occ, tables.square[square]))
        if square != king and some(without(exposed, pos.state.checkers)):
            found = either(found, tables.square[square])
    return found


cdef bint board_agrees(const Position *pos) noexcept nogil:
    """Return whether bitboards, mailbox and king squares describe the same board."""
    cdef int square, piece
    for square in range(SQUARES):
        piece = pos.board[square]
        if has(occupied(pos), square) != (piece != 0):
            return False
        if piece and not has(pieces(pos, color_of(piece), type_of(piece)), square):
            return False
        if piece and has(pos.kind[GOLDS], square) != moves_like_gold(type_of(piece)):
            return False
        if type_of(piece) == KING and pos.king[color_of(piece)] != square:
            return False
    return True


cdef bint is_consistent(const Position *pos) noexcept nogil:
    """Return whether all incremental values equal those computed from scratch."""
    cdef const State *state = pos.state
    cdef int king = pos.king[pos.side], group
    cdef Bitboard checkers = empty()
    for group in range(GROUPS):
        if state.group_keys[group] != group_key_of(pos, group):
            return False
    if king != NO_SQUARE:
        checkers = attackers(pos, king, pos.side ^ 1, occupied(pos))
    return (state.board_key == board_key_of(pos) and state.hand_key == hand_key_of(pos)
            and same(state.checkers, checkers) and same(state.pinned, pinned_of(pos)) and board_agrees(pos))


cdef inline void toggle_keys(State *state, int piece, int square) noexcept nogil:
    cdef uint64_t key = zobrist.board[piece][square]
    state.board_key ^= key
    state.group_keys[group_of(piece)] ^= key


cdef inline void move_piece(Position *pos, State *state, Move32 move) noexcept nogil:
    """Update board, hands and keys for a board move."""
    cdef int us = pos.side, origin = from_square(move), target = to_square(move)
    cdef int piece = moved_piece(move), placed = placed_piece(move), captured = captured_piece(move), held
    if captured:
        held = raw_type(type_of(captured))
        toggle(pos, us ^ 1, type_of(captured), tables.square[target])
        toggle_keys(state, captured, target)
        state.hand[us] += hand_one(held)
        state.hand_key += zobrist.hand[us][held]
    toggle(pos, us, type_of(piece), tables.square[origin])
    toggle(pos, us, type_of(placed), tables.square[target])
    toggle_keys(state, piece, origin)
    toggle_keys(state, placed, target)
    pos.board[origin] = 0
    pos.board[target] = placed
    if type_of(piece) == KING:
        pos.king[us] = target


cdef inline void drop_piece(Position *pos, State *state, Move32 move) noexcept nogil:
    cdef int us = pos.side, target = to_square(move), piece_type = dropped_type(move)
    toggle(pos, us, piece_type, tables.square[target])
    toggle_keys(state, moved_piece(move), target)
    state.hand[us] -= hand_one(piece_type)
    state.hand_key -= zobrist.hand[us][piece_type]
    pos.board[target] = moved_piece(move)


cdef inline State *push_state(Position *pos, Move32 move) noexcept nogil:
    """Push a State with the keys, hands and check counts of the old one, the other side to move."""
    cdef State *old = pos.state
    cdef State *state = old + 1
    pos.seen[old.board_key & (SEEN_SLOTS - 1)] += 1
    state.board_key = old.board_key ^ zobrist.side
    state.hand_key = old.hand_key
    state.group_keys = old.group_keys
    state.hand = old.hand
    state.checks = old.checks
    state.since_null = old.since_null + 1
    state.move = move
    pos.state = state
    pos.ply += 1
    return state


cdef inline void pop_state(Position *pos) noexcept nogil:
    pos.state -= 1
    pos.ply -= 1
    pos.seen[pos.state.board_key & (SEEN_SLOTS - 1)] -= 1


cdef void do_move(Position *pos, Move move) noexcept nogil:
    """Make a legal move. There must be room for it (reserve_plies)."""
    cdef int us = pos.side
    cdef Move32 move32 = to_move32(pos, move)
    cdef State *state = push_state(pos, move32)
    ASSERT(game_length(pos) < pos.capacity)
    if is_drop(move):
        drop_piece(pos, state, move32)
    else:
        move_piece(pos, state, move32)
    pos.side = us ^ 1
    update_checkers(pos, state)
    state.checks[us] = state.checks[us] + 1 if some(state.checkers) else 0
    ASSERT(type_of(captured_piece(move32)) != KING)
    ASSERT(is_consistent(pos))


cdef void undo_move(Position *pos) noexcept nogil:
    cdef Move32 move = pos.state.move
    cdef int us = pos.side ^ 1, target = to_square(move)
    pop_state(pos)
    pos.side = us
    toggle(pos, us, type_of(placed_piece(move)), tables.square[target])
    pos.board[target] = captured_piece(move)
    if not is_drop(move):
        move_piece_back(pos, move)
    ASSERT(is_consistent(pos))


cdef inline void move_piece_back(Position *pos, Move32 move) noexcept nogil:
    cdef int us = pos.side, origin = from_square(move)
    cdef int piece = moved_piece(move), captured = captured_piece(move)
    toggle(pos, us, type_of(piece), tables.square[origin])
    pos.board[origin] = piece
    if captured:
        toggle(pos, us ^ 1, type_of(captured), tables.square[to_square(move)])
    if type_of(piece) == KING:
        pos.king[us] = origin


cdef void do_null(Position *pos) noexcept nogil:
    """Make a null move. The side to move is not in check."""
    cdef State *state = push_state(pos, NULL_MOVE)
    ASSERT(not some((state - 1).checkers))
    state.since_null = 0
    state.checks[pos.side] = 0
    pos.side ^= 1
    update_checkers(pos, state)
    ASSERT(is_consistent(pos))


cdef void undo_null(Position *pos) noexcept nogil:
    pop_state(pos)
    pos.side ^= 1
    ASSERT(is_consistent(pos))


cdef void find_dirty(const State *state, Dirty *dirty) noexcept nogil:
    """Find what the last move before `state` changed: nothing after a null move or the set-up."""
    cdef Move32 move = state.move
    cdef int piece = moved_piece(move), captured = captured_piece(move), us = color_of(piece), held
    dirty.count = 0
    if move == NO_MOVE or move == NULL_MOVE:
        return
    dirty.count = 1
    dirty.changed[0] = DirtyPiece(piece, from_square(move), 0, placed_piece(move), to_square(move), 0)
    if is_drop(move):
        dirty.changed[0].old_square = NO_SQUARE
        dirty.changed[0].old_held = hand_count((state - 1).hand[us], dropped_type(move))
    if captured:
        dirty.count = 2
        held = raw_type(type_of(captured))
        dirty.changed[1] = DirtyPiece(captured, to_square(move), 0, make_piece(us, held), NO_SQUARE,
                                      hand_count(state.hand[us], held))


cdef inline Repetition judge_cycle(const Position *pos, int plies) noexcept nogil:
    """Judge a repetition of the position `plies` ago: a draw, unless one side alone gave check on every move since."""
    cdef int us = pos.side
    cdef bint ours = pos.state.checks[us] >= plies // 2
    cdef bint theirs = pos.state.checks[us ^ 1] >= plies // 2
    if ours == theirs:
        return REPETITION_DRAW
    return REPETITION_LOSS if ours else REPETITION_WIN


cdef Repetition find_repetition(const Position *pos, int limit) noexcept nogil:
    """Find a repetition for the search, at most `limit` plies back.

    If the nearest earlier position with the same board and side to move has equal hands, its first recurrence is judged
    like the fourth. Otherwise the position is superior or inferior if one of the mover's two hands covers the other.
    """
    cdef const State *state = pos.state
    cdef int reach = state.since_null if state.since_null < limit else limit
    cdef int plies
    cdef Hand ours = state.hand[pos.side], then
    if pos.seen[state.board_key & (SEEN_SLOTS - 1)] == 0:
        return NO_REPETITION
    for plies in range(4, reach + 1, 2):
        if (state - plies).board_key != state.board_key:
            continue
        then = (state - plies).hand[pos.side]
        if then == ours:
            return judge_cycle(pos, plies) if (state - plies).hand_key == state.hand_key else NO_REPETITION
        if hand_covers(ours, then):
            return REPETITION_SUPERIOR
        if hand_covers(then, ours):
            return REPETITION_INFERIOR
    return NO_REPETITION


cdef Repetition game_repetition(const Position *pos) noexcept nogil:
    """Find a repetition by the rules: the fourth occurrence of the position, judged over the moves since the first."""
    cdef const State *state = pos.state
    cdef int plies, times = 1
    for plies in range(4, state.since_null + 1, 2):
        if (state - plies).board_key == state.board_key and (state - plies).hand_key == state.hand_key:
            times += 1
            if times == 4:
                return judge_cycle(pos, plies)
    return NO_REPETITION


cdef int large_pieces(const Position *pos, Bitboard among) noexcept nogil:
    return count(both(either(diagonal_sliders(pos), straight_sliders(pos)), among))


cdef int hand_points(Hand hand) noexcept nogil:
    """Count five points for bishops and rooks, one for other pieces."""
    cdef int piece_type, points = 0
    for piece_type in range(PAWN, GOLD + 1):
        points += hand_count(hand, piece_type) * (5 if piece_type == BISHOP or piece_type == ROOK else 1)
    return points


cdef int missing_points(const Position *pos) noexcept nogil:
    """Return the points missing in a handicap game: a full set counts 54 (38 pieces, rooks and bishops 5 each)."""
    cdef Bitboard men = without(occupied(pos), pos.kind[KING])
    cdef int held = hand_points(pos.state.hand[BLACK]) + hand_points(pos.state.hand[WHITE])
    return 54 - (count(men) + 4 * large_pieces(pos, men) + held)


cdef int points_needed(const Position *pos, DeclarationRule rule) noexcept nogil:
    """Return 31 (24-point rule) or 28 for Black, 27 for White (27-point rule); White may need less with a handicap."""
    cdef int needed = 31
    if rule == RULE_27 or rule == RULE_27_HANDICAP:
        needed = 28 if pos.side == BLACK else 27
    if pos.side == WHITE and (rule == RULE_24_HANDICAP or rule == RULE_27_HANDICAP):
        needed -= missing_points(pos)
    return needed


cdef bint can_declare(const Position *pos, DeclarationRule rule) noexcept nogil:
    """Return whether the side to move can declare a win: its king in the promotion zone and not in check, ten other
    pieces there, enough points (rules of the CSA protocol and the Japan Shogi Association). False for RULE_TRY.
    """
    cdef int us = pos.side
    cdef Bitboard inside
    if rule == NO_DECLARATION or rule == RULE_TRY or pos.king[us] == NO_SQUARE:
        return False
    if not has(tables.promotion_zone[us], pos.king[us]) or in_check(pos):
        return False
    inside = without(both(pos.color[us], tables.promotion_zone[us]), pos.kind[KING])
    if count(inside) < 10:
        return False
    return count(inside) + 4 * large_pieces(pos, inside) + hand_points(pos.state.hand[us]) >= points_needed(pos, rule)


cdef inline int try_square(int color) noexcept nogil:
    """Return 5a for Black, 5i for White."""
    return make_square(4, 0) if color == BLACK else make_square(4, 8)


cdef bint has_tried(const Position *pos, int color) noexcept nogil:
    return pos.king[color] == try_square(color)


cdef Move try_move(const Position *pos) noexcept nogil:
    """Return the king's legal move to its try square, which wins by the try rule; else NO_MOVE."""
    cdef int us = pos.side, king = pos.king[us], goal = try_square(us)
    if king == NO_SQUARE or not has(tables.step[us][KING][king], goal) or has(pos.color[us], goal):
        return NO_MOVE
    if attacked(pos, goal, us ^ 1, without(occupied(pos), tables.square[king])):
        return NO_MOVE
    return board_move(king, goal)
