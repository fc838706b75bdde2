"""Legal moves by kind, pins and checks handled while generating.

Every generator writes moves from `out` on and returns the end; a list needs room for MAX_MOVES (drops are stored eight
at a time). "Useless" moves are the non-promotions of pawn, bishop and rook that may promote, and of a lance to the
second rank:
legal, never better, and left out where not asked for.
"""

from core_ext.shogi.bitboard cimport Bitboard
from core_ext.shogi.position cimport Position
from core_ext.shogi.types cimport Move, PIECE_TYPES

# Where each piece type would give check, and our pieces that uncover one when they leave the line.
cdef struct CheckInfo:
    Bitboard squares[PIECE_TYPES]
    Bitboard discoverers
    int king                    # the king to be checked, NO_SQUARE where there is none

# Moves that change material: captures and pawn promotions. The side to move is not in check.
cdef Move *generate_captures(const Position *pos, Move *out, bint include_all) noexcept nogil
# All other board moves. Not in check.
cdef Move *generate_quiets(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_drops(const Position *pos, Move *out) noexcept nogil
# All moves out of check.
cdef Move *generate_evasions(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_legal(const Position *pos, Move *out, bint include_all) noexcept nogil
# Moves that give check; quiet ones: those of them that are neither captures nor pawn promotions.
cdef Move *generate_checks(const Position *pos, Move *out, bint include_all) noexcept nogil
cdef Move *generate_quiet_checks(const Position *pos, Move *out) noexcept nogil
# For comparison: pins, king safety and drop-pawn mate unchecked; is_legal tells which to keep. Not in check.
cdef Move *generate_pseudo_legal(const Position *pos, Move *out, bint include_all) noexcept nogil

# Whether any 16 bits are a legal move here (useless ones are).
cdef bint is_legal(const Position *pos, Move move) noexcept nogil
cdef bint is_useless(const Position *pos, Move move) noexcept nogil
cdef bint is_drop_pawn_mate(const Position *pos, int square) noexcept nogil
cdef bint has_legal_move(const Position *pos) noexcept nogil
cdef void init_check_info(const Position *pos, CheckInfo *info) noexcept nogil
cdef bint gives_check(const Position *pos, const CheckInfo *info, Move move) noexcept nogil
