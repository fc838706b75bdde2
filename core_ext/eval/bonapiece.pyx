"""Tables of bonapiece.pxd, and the list of a position's pieces."""

from core_ext.shogi.bitboard cimport Bitboard, pop, some, without
from core_ext.shogi.hand cimport hand_count
from core_ext.shogi.position cimport Position, occupied
from core_ext.shogi.types cimport *


cdef int number_hands() noexcept:
    """Number the hands, each range one longer than a hand can be; return the end."""
    cdef int *most = [18, 4, 4, 4, 4, 2, 2]
    cdef int *kinds = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK]
    cdef int end = 0, i, color, n
    for i in range(7):
        for color in range(COLORS):
            features.hand_base[color][kinds[i]] = end
            for n in range(most[i] + 1):
                features.inverse[end + n] = end + n + (most[i] + 1 if color == BLACK else -most[i] - 1)
                features.mirror[end + n] = end + n
            end += most[i] + 1
    return end


cdef int number_board(int end) noexcept:
    """Number the pieces on the board; return the end."""
    cdef int *kinds = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, HORSE, ROOK, DRAGON]
    cdef int i, color, square
    for i in range(9):
        for color in range(COLORS):
            features.board_base[make_piece(color, kinds[i])] = end
            for square in range(SQUARES):
                features.inverse[end + square] = end + (SQUARES if color == BLACK else -SQUARES)
                features.inverse[end + square] += inverse_square(square)
                features.mirror[end + square] = end + mirror_square(square)
            end += SQUARES
    for color in range(COLORS):
        for i in (PRO_PAWN, PRO_LANCE, PRO_KNIGHT, PRO_SILVER):
            features.board_base[make_piece(color, i)] = features.board_base[make_piece(color, GOLD)]
    return end


cdef int end_of_hands = number_hands()
assert end_of_hands == HAND_NUMBERS
cdef int end_of_numbers = number_board(end_of_hands)
assert end_of_numbers == BONAPIECES


cdef inline int append_piece(PieceLists *lists, int count, int number) noexcept nogil:
    lists.numbers[BLACK][count] = number
    lists.numbers[WHITE][count] = features.inverse[number]
    return count + 1


cdef int list_pieces(const Position *pos, PieceLists *lists) noexcept nogil:
    """Fill the lists; return the number of pieces without the kings."""
    cdef Bitboard men = without(occupied(pos), pos.kind[KING])
    cdef int count = 0, color, piece_type, held, square, i
    while some(men):
        square = pop(&men)
        count = append_piece(lists, count, features.board_base[pos.board[square]] + square)
    for color in range(COLORS):
        for piece_type in range(PAWN, GOLD + 1):
            for held in range(1, hand_count(pos.state.hand[color], piece_type) + 1):
                count = append_piece(lists, count, features.hand_base[color][piece_type] + held)
    for i in range(count, LIST_SIZE):
        lists.numbers[BLACK][i] = lists.numbers[WHITE][i] = 0
    return count
