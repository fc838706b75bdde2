"""A hand packed into 32 bits.

Each piece type has a field below a zero bit, so that one subtraction compares all fields:
    bits 0-4 pawn, 6-8 lance, 10-12 knight, 14-16 silver, 18-19 bishop, 21-22 rook, 24-26 gold
"""

from core_ext.shogi.types cimport Hand

cdef extern from *:
    """
    static const unsigned char hand_shift[8] = {0, 0, 6, 10, 14, 18, 21, 24};
    static const unsigned char hand_field[8] = {0, 31, 7, 7, 7, 3, 3, 7};
    """
    const unsigned char hand_shift[8]
    const unsigned char hand_field[8]

cdef enum:
    HAND_BORROWS = 1 << 5 | 1 << 9 | 1 << 13 | 1 << 17 | 1 << 20 | 1 << 23 | 1 << 27
    HAND_PAWNS = 31
    LEAST_FREE_HAND = 1 << 14   # from here on there is a silver, bishop, rook or gold, which may be dropped anywhere


cdef inline int hand_count(Hand hand, int piece_type) noexcept nogil:
    return (hand >> hand_shift[piece_type]) & hand_field[piece_type]

cdef inline bint hand_has(Hand hand, int piece_type) noexcept nogil:
    return (hand & <Hand>hand_field[piece_type] << hand_shift[piece_type]) != 0


cdef inline Hand hand_one(int piece_type) noexcept nogil:
    """Return a hand of one piece, to be added to a hand or subtracted from it."""
    return <Hand>1 << hand_shift[piece_type]


cdef inline bint hand_covers(Hand hand, Hand other) noexcept nogil:
    """Return whether `hand` has at least as many pieces of each type as `other`: no field of the difference borrows."""
    return ((hand - other) & HAND_BORROWS) == 0
