"""A position with the game before it: pieces, hands, keys, checkers, pinned pieces; do and undo.

A Position owns a stack of States, one per ply; `state` points to the current one. undo_move pops the State, which has
what the move alone cannot restore, and moves the pieces back.
"""

from core_ext.shogi.bitboard cimport (
    bishop_attacks, Bitboard, both, either, empty, lance_attacks, many, pop, rook_attacks, some, tables,
)
from core_ext.shogi.types cimport *
from core_ext.shogi.zobrist cimport zobrist

cdef enum:
    SEEN_SLOTS = 4096

# Groups of pieces on the board, each with its own key, for statistics by structure (Stockfish's pawn key).
cdef enum:
    GROUP_PAWNS = 0         # of both colours
    GROUP_PIECES = 1        # + colour: all except the pawns
    GROUPS = 3

ctypedef int Repetition
cdef enum:
    NO_REPETITION = 0
    REPETITION_DRAW = 1
    REPETITION_WIN = 2      # the opponent gave perpetual check
    REPETITION_LOSS = 3     # the side to move gave perpetual check
    REPETITION_SUPERIOR = 4  # same board and side to move; the hand of the side to move covers its earlier one
    REPETITION_INFERIOR = 5  # the earlier hand covers the present one

ctypedef int DeclarationRule
cdef enum:
    NO_DECLARATION, RULE_24, RULE_24_HANDICAP, RULE_27, RULE_27_HANDICAP, RULE_TRY

cdef struct State:
    uint64_t board_key      # pieces on the board and the side to move
    uint64_t hand_key       # both hands
    uint64_t group_keys[GROUPS]     # the board key without the side to move, by groups of pieces
    Bitboard checkers       # pieces that check the side to move
    Bitboard pinned         # pieces of the side to move that alone block a slider's line to its king
    Hand hand[COLORS]
    Move32 move             # the last move; 0 in the position that was set up, NULL_MOVE after a null move
    int checks[COLORS]      # number of consecutive checks by each colour up to its last move
    int since_null          # plies since a null move or the set-up: no repetition reaches further back

# A piece that a move changed, for an incremental evaluation. A `square` of NO_SQUARE means in hand; `held` is then the
# number of pieces of that type in the hand, this one included.
cdef struct DirtyPiece:
    int old_piece
    int old_square
    int old_held
    int new_piece
    int new_square
    int new_held

cdef struct Dirty:
    int count
    DirtyPiece changed[2]   # the moved piece, then the captured one

cdef struct Position:
    Bitboard kind[PIECE_TYPES]  # of both colours; [GOLDS] all pieces that move like a gold
    Bitboard color[COLORS]
    uint8_t board[SQUARES + 7]
    int king[COLORS]        # NO_SQUARE if there is none
    int side                # side to move
    int ply                 # number of the next move in the game, 1 at the start
    State *state
    State *states
    int capacity            # of `states`
    uint16_t seen[SEEN_SLOTS]   # earlier States, by the low bits of their board keys: 0 rules out a repetition

cdef int allocate_position(Position *pos, int capacity) except -1 nogil
cdef void free_position(Position *pos) noexcept nogil
cdef int reserve_plies(Position *pos, int plies) except -1 nogil
cdef int copy_position(Position *pos, const Position *other, int plies) except -1 nogil
cdef void clear_position(Position *pos) noexcept nogil
cdef void put_piece(Position *pos, int piece, int square) noexcept nogil
cdef void begin_game(Position *pos) noexcept nogil
cdef void do_move(Position *pos, Move move) noexcept nogil
cdef void undo_move(Position *pos) noexcept nogil
cdef void do_null(Position *pos) noexcept nogil
cdef void undo_null(Position *pos) noexcept nogil
# Find the enemy pieces that check the king of `us`, and the blockers: pieces of either colour that alone block
# a slider's line to it.
cdef void find_checkers(const Position *pos, int us, Bitboard *checkers, Bitboard *blockers) noexcept nogil
cdef void find_dirty(const State *state, Dirty *dirty) noexcept nogil
cdef Repetition find_repetition(const Position *pos, int limit) noexcept nogil
cdef Repetition game_repetition(const Position *pos) noexcept nogil
cdef bint can_declare(const Position *pos, DeclarationRule rule) noexcept nogil
cdef Move try_move(const Position *pos) noexcept nogil
cdef bint has_tried(const Position *pos, int color) noexcept nogil


cdef inline Bitboard occupied(const Position *pos) noexcept nogil:
    return either(pos.color[0], pos.color[1])

cdef inline Bitboard pieces(const Position *pos, int color, int piece_type) noexcept nogil:
    return both(pos.color[color], pos.kind[piece_type])

cdef inline uint64_t state_key(const State *state) noexcept nogil:
    return state.board_key ^ state.hand_key


cdef inline uint64_t full_key(const Position *pos) noexcept nogil:
    """Return the key of board, hands and side to move."""
    return state_key(pos.state)


cdef inline bint in_check(const Position *pos) noexcept nogil:
    return some(pos.state.checkers)

cdef inline Hand hand_of(const Position *pos, int color) noexcept nogil:
    return pos.state.hand[color]


cdef inline bint has_both_kings(const Position *pos) noexcept nogil:
    """Return False in a mate problem without the attacker's king."""
    return pos.king[BLACK] != NO_SQUARE and pos.king[WHITE] != NO_SQUARE


cdef inline int game_length(const Position *pos) noexcept nogil:
    """Return the number of moves, null moves included, since the set-up."""
    return <int>(pos.state - pos.states)


cdef inline Move32 to_move32(const Position *pos, Move move) noexcept nogil:
    """Return the move with its moving and captured piece."""
    if is_drop(move):
        return make_move32(move, make_piece(pos.side, dropped_type(move)), 0)
    return make_move32(move, pos.board[from_square(move)], pos.board[to_square(move)])


cdef inline bint is_quiet(const Position *pos, Move move) noexcept nogil:
    return is_quiet32(to_move32(pos, move))


cdef inline uint64_t board_key_after(const Position *pos, Move32 move) noexcept nogil:
    """Return the board key after the move."""
    cdef uint64_t key = pos.state.board_key ^ zobrist.side ^ zobrist.board[placed_piece(move)][to_square(move)]
    if is_drop(move):
        return key
    key ^= zobrist.board[captured_piece(move)][to_square(move)]
    return key ^ zobrist.board[moved_piece(move)][from_square(move)]


cdef inline uint64_t key_after(const Position *pos, Move32 move) noexcept nogil:
    """Return full_key after the move, to prefetch its TT entry."""
    cdef uint64_t hand_key = pos.state.hand_key
    if is_drop(move):
        hand_key -= zobrist.hand[pos.side][dropped_type(move)]
    elif captured_piece(move):
        hand_key += zobrist.hand[pos.side][raw_type(type_of(captured_piece(move)))]
    return board_key_after(pos, move) ^ hand_key


cdef inline uint64_t key_after_null(const Position *pos) noexcept nogil:
    return full_key(pos) ^ zobrist.side


cdef inline Bitboard step_attackers(const Position *pos, int square, int by) noexcept nogil:
    """Return the pieces of colour `by` that attack `square` by a step, including steps of horse and dragon."""
    cdef int us = by ^ 1    # a piece of `us` on `square` attacks the squares from which `by` attacks `square`
    cdef Bitboard found = both(tables.step[us][PAWN][square], pos.kind[PAWN])
    found = either(found, both(tables.step[us][KNIGHT][square], pos.kind[KNIGHT]))
    found = either(found, both(tables.step[us][SILVER][square], pos.kind[SILVER]))
    found = either(found, both(tables.step[us][GOLD][square], pos.kind[GOLDS]))
    found = either(found, both(tables.step[us][KING][square],
                               either(pos.kind[KING], either(pos.kind[HORSE], pos.kind[DRAGON]))))
    return both(found, pos.color[by])


cdef inline Bitboard diagonal_sliders(const Position *pos) noexcept nogil:
    return either(pos.kind[BISHOP], pos.kind[HORSE])

cdef inline Bitboard straight_sliders(const Position *pos) noexcept nogil:
    return either(pos.kind[ROOK], pos.kind[DRAGON])


cdef inline Bitboard slide_attackers(const Position *pos, int square, int by, Bitboard occ) noexcept nogil:
    """Return the sliders of colour `by`, lances included, that attack `square` along a line given `occ`."""
    cdef Bitboard enemies = pos.color[by]
    cdef Bitboard found = both(tables.forward[by ^ 1][square], both(pos.kind[LANCE], enemies))
    cdef Bitboard aligned
    if some(found):
        found = both(found, lance_attacks(by ^ 1, square, occ))
    aligned = both(both(tables.bishop_lines[square], diagonal_sliders(pos)), enemies)
    if some(aligned):
        found = either(found, both(aligned, bishop_attacks(square, occ)))
    aligned = both(both(tables.rook_lines[square], straight_sliders(pos)), enemies)
    if some(aligned):
        found = either(found, both(aligned, rook_attacks(square, occ)))
    return found


cdef inline Bitboard attackers(const Position *pos, int square, int by, Bitboard occ) noexcept nogil:
    """Return every piece of colour `by` that attacks `square`, given the occupancy `occ`."""
    return either(step_attackers(pos, square, by), slide_attackers(pos, square, by, occ))


cdef inline bint attacked(const Position *pos, int square, int by, Bitboard occ) noexcept nogil:
    return some(step_attackers(pos, square, by)) or some(slide_attackers(pos, square, by, occ))


cdef inline Bitboard aligned_sliders(const Position *pos, int square, int by) noexcept nogil:
    """Return the sliders of colour `by` that would attack `square` on an empty board."""
    cdef Bitboard found = either(both(tables.forward[by ^ 1][square], pos.kind[LANCE]),
                                 either(both(tables.bishop_lines[square], diagonal_sliders(pos)),
                                        both(tables.rook_lines[square], straight_sliders(pos))))
    return both(found, pos.color[by])


cdef inline Bitboard slider_blockers(int square, Bitboard sliders, Bitboard occ, Bitboard *direct) noexcept nogil:
    """Return the pieces that alone block an aligned slider; `direct` gets the sliders that attack `square`."""
    cdef Bitboard blockers = empty(), between
    cdef int slider
    direct[0] = empty()
    while some(sliders):
        slider = pop(&sliders)
        between = both(tables.between[square][slider], occ)
        if not some(between):
            direct[0] = either(direct[0], tables.square[slider])
        elif not many(between):
            blockers = either(blockers, between)
    return blockers
