"""Move generators. They handle pins and checks while generating.

Every generator writes moves from `out` on and returns the end; a list needs room for MAX_MOVES. A dominated move is a
non-promotion of a pawn, bishop or rook that may promote, or of a lance to the second rank: legal, but never better than
the promotion (except to avoid a drop-pawn mate). Generators write dominated moves only if `include_all`.
"""

from core_ext.shogi.bitboard cimport Bitboard, both, has, tables, without
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport *

cdef struct CheckInfo:
    Bitboard squares[PIECE_TYPES]   # from which a piece of each type gives check
    Bitboard discoverers        # pieces of the side to move that give check when they leave their line
    int king                    # the enemy king, or NO_SQUARE

# Moves that change material, captures and pawn promotions, without dominated moves. The side to move is not in check.
cdef Move *generate_captures(const Position *pos, Move *out) noexcept nogil
# All other board moves, without dominated moves. Not in check.
cdef Move *generate_quiets(const Position *pos, Move *out) noexcept nogil
cdef Move *generate_drops(const Position *pos, Move *out) noexcept nogil
# All moves out of check.
cdef Move *generate_evasions(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_legal(const Position *pos, Move *out, bint include_all) noexcept nogil
# Legal moves that give check.
cdef Move *generate_checks(const Position *pos, Move *out, bint include_all) noexcept nogil
# The legal moves, and moves that leave the king in check or mate by a pawn drop.
cdef Move *generate_pseudo_legal(const Position *pos, Move *out, bint include_all) noexcept nogil

# Count the leaves of the tree of all legal moves `depth` plies below. There must be room for `depth` plies.
cdef uint64_t perft(Position *pos, int depth) noexcept nogil
# Return whether 16 bits from any source are a legal move, dominated or not.
cdef bint is_legal(const Position *pos, Move move) noexcept nogil
cdef bint has_legal_move(const Position *pos) noexcept nogil
cdef void init_check_info(const Position *pos, CheckInfo *info) noexcept nogil


cdef inline Bitboard plain_targets(int us, int piece_type, Bitboard targets, Bitboard promotable,
                                   bint include_all) noexcept nogil:
    """Return the targets of non-promotions that leave the piece a move; unless `include_all`, no dominated moves."""
    if include_all or piece_type == SILVER or piece_type == KNIGHT:
        return both(targets, tables.drop_ranks[us][piece_type])
    if piece_type == LANCE:
        return both(targets, tables.drop_ranks[us][KNIGHT])
    return without(targets, promotable)


cdef inline bint checks_directly(const CheckInfo *info, Move32 move) noexcept nogil:
    """Return whether the moving piece itself gives check."""
    return has(info.squares[type_of(placed_piece(move))], to_square(move))


cdef inline bint gives_check(const CheckInfo *info, Move32 move) noexcept nogil:
    """Return whether a legal move gives check."""
    return checks_directly(info, move) or (
        not is_drop(move) and has(info.discoverers, from_square(move))
        and not has(tables.line[info.king][from_square(move)], to_square(move)))
