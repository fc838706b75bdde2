"""Bonapiece numbers: the feature numbers of every evaluation and of its training.

Every piece but the kings has one number for its kind and place, from Black's perspective (Y. Hoki, Bonanza). Hand slots
come first, one range for each kind and colour: the n-th pawn in Black's hand is hand_base[BLACK][PAWN] + n. Then
come 81 squares for each kind on the board, Black's before White's; promoted small pieces count as golds. White's
perspective is the inverse: the board rotated and the colours swapped. No piece has the number 0: it pads lists, and its
weights are 0.
"""

from core_ext.shogi.position cimport DirtyPiece, Position
from core_ext.shogi.types cimport *

cdef enum:
    BONAPIECES = 1548
    HAND_NUMBERS = 90       # numbers below this one belong to hands
    LISTED = 38             # pieces besides the kings
    LIST_SIZE = 40          # capacity of a list: whole vectors of eight
    HALF_SQUARES = 45       # king squares of files 1 to 5; a king on another file is mirrored
    PAIRS = BONAPIECES * (BONAPIECES + 1) // 2

cdef struct FeatureTables:
    int32_t hand_base[COLORS][8]        # by hand type; numbers start at base + 1
    int32_t board_base[PIECES]          # number of the piece on square 0
    int32_t inverse[BONAPIECES]         # from the other colour's perspective
    int32_t mirror[BONAPIECES]          # files reflected

cdef FeatureTables features

# The pieces except kings, from the perspective of each colour; zeros follow the last one.
cdef struct PieceLists:
    int32_t numbers[COLORS][LIST_SIZE]

cdef int list_pieces(const Position *pos, PieceLists *lists) noexcept nogil


cdef inline int bonapiece(int piece, int square, int held) noexcept nogil:
    """Return the number of a piece on a square or, if that is NO_SQUARE, of the `held`-th of its kind in hand."""
    if square == NO_SQUARE:
        return features.hand_base[color_of(piece)][type_of(piece)] + held
    return features.board_base[piece] + square


cdef inline int old_bonapiece(const DirtyPiece *changed) noexcept nogil:
    return bonapiece(changed.old_piece, changed.old_square, changed.old_held)

cdef inline int new_bonapiece(const DirtyPiece *changed) noexcept nogil:
    return bonapiece(changed.new_piece, changed.new_square, changed.new_held)

cdef inline int inverse_square(int square) noexcept nogil:
    return SQUARES - 1 - square

cdef inline int mirror_square(int square) noexcept nogil:
    return make_square(8 - file_of(square), rank_of(square))


cdef inline int pair_index(int a, int b) noexcept nogil:
    """Return the index of an unordered pair of numbers, 0 to PAIRS - 1: row by row of a lower triangle."""
    return a * (a + 1) // 2 + b if a > b else b * (b + 1) // 2 + a
