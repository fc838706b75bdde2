"""Generators of legal moves; pins and checks are handled while generating.

Every generator writes moves from `out` on and returns the end; a list needs room for MAX_MOVES (drops are stored eight
at a time). A dominated move is a non-promotion of a pawn, bishop or rook that may promote, or of a lance to the second
rank: legal, but never better than the promotion (but to avoid a drop-pawn mate). Generators write these moves only with
`include_all`.
"""

from core_ext.shogi.bitboard cimport Bitboard, has, tables
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport (
    Move, Move32, PIECE_TYPES, from_square, is_drop, placed_piece, to_square, type_of,
)

# What it takes to give check: the squares from which each piece type does, and the pieces of the side to move that
# give a discovered check when they leave their line.
cdef struct CheckInfo:
    Bitboard squares[PIECE_TYPES]
    Bitboard discoverers
    int king                    # the enemy king, or NO_SQUARE

# Moves that change material: captures and pawn promotions. The side to move is not in check.
cdef Move *generate_captures(const Position *pos, Move *out, bint include_all) noexcept nogil
# All other board moves. Not in check.
cdef Move *generate_quiets(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_drops(const Position *pos, Move *out) noexcept nogil
# All moves out of check.
cdef Move *generate_evasions(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_legal(const Position *pos, Move *out, bint include_all) noexcept nogil
# Moves that give check; the quiet ones are neither captures nor pawn promotions and leave the dominated moves out.
cdef Move *generate_checks(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_quiet_checks(const Position *pos, Move *out) noexcept nogil
# For tests and benches: pins, king safety and drop-pawn mate are not checked; filter by is_legal. Not in check.
cdef Move *generate_pseudo_legal(const Position *pos, Move *out, bint include_all) noexcept nogil

# Whether these 16 bits, whatever their origin, are a legal move here (dominated or not).
cdef bint is_legal(const Position *pos, Move move) noexcept nogil
# Whether a legal move is dominated.
cdef bint is_dominated(const Position *pos, Move move) noexcept nogil
# Whether a pawn dropped on the empty `square` in front of the enemy king mates it. Exact.
cdef bint is_drop_pawn_mate(const Position *pos, int square) noexcept nogil
cdef bint has_legal_move(const Position *pos) noexcept nogil
cdef void init_check_info(const Position *pos, CheckInfo *info) noexcept nogil


cdef inline bint checks_directly(const CheckInfo *info, Move32 move) noexcept nogil:
    """Whether the piece that moves gives check, and not one behind it."""
    return has(info.squares[type_of(placed_piece(move))], to_square(move))


cdef inline bint gives_check(const CheckInfo *info, Move32 move) noexcept nogil:
    """Whether a legal move checks the enemy king."""
    return checks_directly(info, move) or (
        not is_drop(move) and has(info.discoverers, from_square(move))
        and not has(tables.line[info.king][from_square(move)], to_square(move)))
