"""Basic types: colours, pieces, squares, moves, values. Most modules cimport all of them."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    BLACK = 0   # sente, moves first, plays towards rank a
    WHITE = 1   # gote
    COLORS = 2

# A piece type plus PROMOTED is the promoted type; a piece is its type, plus 16 for White.
cdef enum:
    NO_PIECE, PAWN, LANCE, KNIGHT, SILVER, BISHOP, ROOK, GOLD, KING     # 0 to 8
    PRO_PAWN, PRO_LANCE, PRO_KNIGHT, PRO_SILVER, HORSE, DRAGON          # 9 to 14
    GOLDS = 15          # not a type: the index of the bitboard of all pieces that move like a gold
    PIECE_TYPES = 16
    PROMOTED = 8
    PIECES = 32

# Squares run file by file, 1a = 0, 1b = 1, ... 9i = 80: square = 9 * file + rank.
cdef enum:
    SQUARES = 81
    NO_SQUARE = 81

ctypedef uint32_t Hand

# Move, 16 bits:
#   bits 0-6    destination square
#   bits 7-13   origin square; a drop has DROP_ORIGIN + piece type (82..88)
#   bit  14     promotion
# Move32, 32 bits: the move in the low half, then
#   bits 16-20  the moving piece before the move (a drop: the dropped piece)
#   bits 21-25  the captured piece, or 0
ctypedef uint16_t Move
ctypedef uint32_t Move32

cdef enum:
    NO_MOVE = 0
    NULL_MOVE = 129     # 1b to 1b, which no piece can play
    DROP_ORIGIN = 81
    PROMOTION = 1 << 14
    MAX_MOVES = 640     # at most 593 moves are possible; drops are stored eight at a time, so a list needs slack

cdef enum:
    MATE = 32000        # MATE - n: mate in n plies
    MATE_BOUND = 31000  # least mate score
    MAX_EVALUATION = 20000  # bound of every evaluation, in centipawns
    DECLARATION = 30500     # DECLARATION - n: a win by declaration or by a try in n plies
    WIN_BY_RULE = 30000     # the opponent gives perpetual check; less than a mate because it may deviate
    INFINITE = 32600
    NO_VALUE = 32601
    MAX_DEPTH = 127
    MAX_PLY = 246       # deepest ply of a search, quiescence included
    DECISIVE = WIN_BY_RULE - MAX_PLY    # least value that is won by mate or by rule


cdef inline bint is_win(int value) noexcept nogil:
    """Return whether this is a win: by mate, by declaration or by the opponent's perpetual check."""
    return value >= DECISIVE


cdef inline bint is_loss(int value) noexcept nogil:
    return value <= -DECISIVE


cdef inline bint is_decisive(int value) noexcept nogil:
    """Return whether this is a win or a loss, to which margins and averages do not apply."""
    return is_win(value) or is_loss(value)


cdef inline int type_of(int piece) noexcept nogil:
    return piece & 15

cdef inline int color_of(int piece) noexcept nogil:
    return piece >> 4

cdef inline int make_piece(int color, int piece_type) noexcept nogil:
    return color << 4 | piece_type


cdef inline int raw_type(int piece_type) noexcept nogil:
    """Return the unpromoted type, which a captured piece has in hand; a king stays a king."""
    return piece_type if piece_type == KING else piece_type & 7


cdef inline bint moves_like_gold(int piece_type) noexcept nogil:
    return (0x1E80 >> piece_type) & 1   # GOLD and PRO_PAWN .. PRO_SILVER

cdef inline bint can_promote(int piece_type) noexcept nogil:
    return PAWN <= piece_type <= ROOK


cdef inline int make_square(int file, int rank) noexcept nogil:
    """Return a square; file 1 and rank a are 0."""
    return 9 * file + rank


cdef inline int file_of(int square) noexcept nogil:
    return square // 9

cdef inline int rank_of(int square) noexcept nogil:
    return square % 9


cdef inline int relative_rank(int color, int square) noexcept nogil:
    """Return the rank from the colour's view: 0 is the farthest rank, 8 the home rank."""
    return 8 - rank_of(square) if color else rank_of(square)


cdef inline bint in_promotion_zone(int color, int square) noexcept nogil:
    return relative_rank(color, square) < 3

cdef inline Move board_move(int origin, int target) noexcept nogil:
    return <Move>(origin << 7 | target)

cdef inline Move promotion_move(int origin, int target) noexcept nogil:
    return <Move>(PROMOTION | origin << 7 | target)

cdef inline Move drop_move(int piece_type, int target) noexcept nogil:
    return <Move>((DROP_ORIGIN + piece_type) << 7 | target)

cdef inline int to_square(Move32 move) noexcept nogil:
    return move & 127


cdef inline int from_square(Move32 move) noexcept nogil:
    """Return the origin; for a drop it is above NO_SQUARE."""
    return (move >> 7) & 127


cdef inline bint is_drop(Move32 move) noexcept nogil:
    return ((move >> 7) & 127) > DROP_ORIGIN

cdef inline int dropped_type(Move32 move) noexcept nogil:
    return ((move >> 7) & 127) - DROP_ORIGIN

cdef inline bint is_promotion(Move32 move) noexcept nogil:
    return (move & PROMOTION) != 0

cdef inline Move32 make_move32(Move move, int piece, int captured) noexcept nogil:
    return move | <Move32>piece << 16 | <Move32>captured << 21

cdef inline int moved_piece(Move32 move) noexcept nogil:
    return (move >> 16) & 31

cdef inline int captured_piece(Move32 move) noexcept nogil:
    return (move >> 21) & 31


cdef inline int placed_piece(Move32 move) noexcept nogil:
    """Return the piece on the destination after the move: the moved piece, promoted if the move promotes."""
    return ((move >> 16) & 31) + ((move & PROMOTION) >> 11)


cdef inline bint is_quiet32(Move32 move) noexcept nogil:
    """Return whether a move is neither a capture nor a pawn promotion: generate_captures leaves it out."""
    if captured_piece(move):
        return False
    return is_drop(move) or not (is_promotion(move) and type_of(moved_piece(move)) == PAWN)
