"""The least hand that a proof needs, and the greatest up to which a refutation holds: the attacker's, by kinds."""

from core_ext.shogi.bitboard cimport Bitboard, lowest, many, some, tables
from core_ext.shogi.hand cimport hand_count, hand_has, hand_one
from core_ext.shogi.position cimport Position, hand_of
from core_ext.shogi.types cimport (
    GOLD, Hand, NO_SQUARE, PAWN, Move32, captured_piece, dropped_type, is_drop, raw_type, type_of,
)


cdef inline Hand with_count(Hand hand, int piece_type, int number) noexcept nogil:
    return hand + <Hand>(number - hand_count(hand, piece_type)) * hand_one(piece_type)


cdef inline Hand greatest(Hand a, Hand b) noexcept nogil:
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        if hand_count(b, piece_type) > hand_count(a, piece_type):
            a = with_count(a, piece_type, hand_count(b, piece_type))
    return a


cdef inline Hand least(Hand a, Hand b) noexcept nogil:
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        if hand_count(b, piece_type) < hand_count(a, piece_type):
            a = with_count(a, piece_type, hand_count(b, piece_type))
    return a


cdef inline Bitboard gap(const Position *pos) noexcept nogil:
    """The squares between the king to move and the one piece that checks it."""
    cdef Bitboard checkers = pos.state.checkers
    if many(checkers):
        return tables.square[NO_SQUARE]
    return tables.between[pos.king[pos.side]][lowest(checkers)]


cdef inline Hand with_monopolies(const Position *pos, int attacker, Hand hand) noexcept nogil:
    """Where pieces can be dropped between, the proof needs all of each kind of which the defender has none."""
    cdef Hand ours = hand_of(pos, attacker), theirs = hand_of(pos, attacker ^ 1)
    cdef int piece_type
    if not some(gap(pos)):
        return hand
    for piece_type in range(PAWN, GOLD + 1):
        if not hand_has(theirs, piece_type):
            hand = with_count(hand, piece_type, hand_count(ours, piece_type))
    return hand


cdef inline Hand hand_before(Hand hand, Move32 move) noexcept nogil:
    """The hand that a proof needs before the attacker's move, from that after it."""
    cdef int captured = captured_piece(move)
    if is_drop(move):
        return hand + hand_one(dropped_type(move))
    if captured and hand_has(hand, raw_type(type_of(captured))):
        return hand - hand_one(raw_type(type_of(captured)))
    return hand


cdef inline Hand refuted_before(Hand hand, Move32 move) noexcept nogil:
    """Up to which hand a refutation holds before the attacker's move, from that after it."""
    cdef int captured = captured_piece(move)
    if is_drop(move):
        return hand + hand_one(dropped_type(move))
    return hand - hand_one(raw_type(type_of(captured))) if captured else hand


cdef inline Hand without_new_kinds(const Position *pos, int attacker, Hand hand) noexcept nogil:
    """A refutation says nothing of kinds that the attacker does not hold, nor of more pieces than there are."""
    cdef Hand ours = hand_of(pos, attacker), theirs = hand_of(pos, attacker ^ 1)
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        if not hand_has(ours, piece_type):
            hand = with_count(hand, piece_type, 0)
    return least(hand, ours + theirs)
