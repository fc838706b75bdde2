"""Writers of planes; their layouts are in planes.pxd."""

from libc.string cimport memset

from core_ext.shogi.bitboard cimport Bitboard, attacks, pop, some
from core_ext.shogi.hand cimport hand_count
from core_ext.shogi.position cimport hand_of, in_check, occupied
from core_ext.shogi.types cimport *

cdef int[7] _hand_kinds = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK]
cdef int[7] _hand_planes = [8, 4, 4, 4, 4, 2, 2]


cdef inline int seen(const Position *pos, int square) noexcept nogil:
    """Return the square as the side to move sees it."""
    return square if pos.side == BLACK else SQUARES - 1 - square


cdef inline void fill(float *planes, int count, float value) noexcept nogil:
    cdef int i
    for i in range(count * SQUARES):
        planes[i] = value


cdef inline void write_attacks(const Position *pos, int square, Bitboard occ, float *kind,
                               float *counted) noexcept nogil:
    """Add the attacks of the piece on a square to the plane of its kind and to those of numbers."""
    cdef int piece = pos.board[square], target, n
    cdef Bitboard targets = attacks(color_of(piece), type_of(piece), square, occ)
    while some(targets):
        target = seen(pos, pop(&targets))
        kind[target] = 1
        n = 0
        while n < COUNTED and counted[n * SQUARES + target] != 0:
            n += 1
        if n < COUNTED:
            counted[n * SQUARES + target] = 1


cdef void write_hands(const Position *pos, float *out) noexcept nogil:
    cdef int color, i, held
    for color in range(COLORS):
        for i in range(7):
            held = min(hand_count(hand_of(pos, pos.side ^ color), _hand_kinds[i]), _hand_planes[i])
            fill(out, held, 1)
            out += _hand_planes[i] * SQUARES


cdef void write_dlshogi_planes(const Position *pos, float *board, float *rest) noexcept nogil:
    cdef Bitboard occ = occupied(pos), men = occ
    cdef int square, piece
    cdef float *own
    memset(board, 0, DLSHOGI_BOARD * SQUARES * sizeof(float))
    memset(rest, 0, DLSHOGI_REST * SQUARES * sizeof(float))
    while some(men):
        square = pop(&men)
        piece = pos.board[square]
        own = board + (color_of(piece) ^ pos.side) * (DLSHOGI_BOARD // 2) * SQUARES
        own[(type_of(piece) - PAWN) * SQUARES + seen(pos, square)] = 1
        write_attacks(pos, square, occ, own + (KINDS + type_of(piece) - PAWN) * SQUARES, own + 2 * KINDS * SQUARES)
    write_hands(pos, rest)
    fill(rest + (DLSHOGI_REST - 1) * SQUARES, 1, in_check(pos))


cdef void write_piece_planes(const Position *pos, float *out) noexcept nogil:
    cdef Bitboard men = occupied(pos)
    cdef int square, piece, color, piece_type
    memset(out, 0, PIECE_PLANES * SQUARES * sizeof(float))
    while some(men):
        square = pop(&men)
        piece = pos.board[square]
        out[((color_of(piece) ^ pos.side) * KINDS + type_of(piece) - PAWN) * SQUARES + seen(pos, square)] = 1
    out += COLORS * KINDS * SQUARES
    for color in range(COLORS):
        for piece_type in range(PAWN, GOLD + 1):
            fill(out, 1, hand_count(hand_of(pos, pos.side ^ color), piece_type))
            out += SQUARES
