"""Proof and disproof pieces: the attacker's least hand for a proof, its greatest for a disproof."""

from core_ext.shogi.bitboard cimport Bitboard, empty, lowest, many, some, tables
from core_ext.shogi.hand cimport hand_count, hand_has, hand_one
from core_ext.shogi.position cimport Position, hand_of
from core_ext.shogi.types cimport *


cdef inline Hand both_hands(const Position *pos) noexcept nogil:
    """Return the pieces in both hands. No field overflows: each has room for a full set."""
    return hand_of(pos, BLACK) + hand_of(pos, WHITE)


cdef inline Hand with_count(Hand hand, int piece_type, int number) noexcept nogil:
    return hand + <Hand>(number - hand_count(hand, piece_type)) * hand_one(piece_type)


cdef inline Hand hand_max(Hand a, Hand b) noexcept nogil:
    """Return the greater count of each type."""
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        if hand_count(b, piece_type) > hand_count(a, piece_type):
            a = with_count(a, piece_type, hand_count(b, piece_type))
    return a


cdef inline Hand hand_min(Hand a, Hand b) noexcept nogil:
    """Return the smaller count of each type."""
    return a + b - hand_max(a, b)


cdef inline Bitboard interposition_squares(const Position *pos) noexcept nogil:
    """Return the squares between the checked king of the side to move and the checker; empty in double check."""
    cdef Bitboard checkers = pos.state.checkers
    if many(checkers):
        return empty()
    return tables.between[pos.king[pos.side]][lowest(checkers)]


cdef inline Hand with_exclusive_types(const Position *pos, int attacker, Hand hand) noexcept nogil:
    """Add to `hand` all the attacker's pieces of types that the defender lacks, if an interposing drop could meet the
    check: with one of them in hand the defender might interpose.
    """
    cdef Hand ours = hand_of(pos, attacker), theirs = hand_of(pos, attacker ^ 1)
    cdef int piece_type
    if not some(interposition_squares(pos)):
        return hand
    for piece_type in range(PAWN, GOLD + 1):
        if not hand_has(theirs, piece_type):
            hand = with_count(hand, piece_type, hand_count(ours, piece_type))
    return hand


cdef inline Hand proof_hand_before(Hand hand, Move32 move) noexcept nogil:
    """Return the proof pieces before a move of the attacker, given those after it."""
    cdef int captured = captured_piece(move)
    if is_drop(move):
        return hand + hand_one(dropped_type(move))
    if captured and hand_has(hand, raw_type(type_of(captured))):
        return hand - hand_one(raw_type(type_of(captured)))
    return hand


cdef inline Hand disproof_hand_before(Hand hand, Move32 move) noexcept nogil:
    """Return the disproof pieces before a move of the attacker, given those after it."""
    cdef int captured = captured_piece(move)
    if is_drop(move):
        return hand + hand_one(dropped_type(move))
    return hand - hand_one(raw_type(type_of(captured))) if captured else hand


cdef inline Hand clip_disproof_hand(const Position *pos, int attacker, Hand hand) noexcept nogil:
    """Limit `hand` to the pieces in both hands, and to types that the attacker holds: other drops were not searched."""
    cdef Hand ours = hand_of(pos, attacker)
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        if not hand_has(ours, piece_type):
            hand = with_count(hand, piece_type, 0)
    return hand_min(hand, both_hands(pos))
