"""Factorized features: general features, which get trained even if a PP, KP or KPP feature is rare (NNUE trainers).

P: a piece's kind. Relative KP: its kind and its offset from the king. PP by king zone: KPP with the king's square
reduced to a zone. Relative PP: the kinds of two pieces and the offset between them, anywhere on the board. Export
adds their weights to those of the features that play uses (coalescing).
"""

from core_ext.eval.bonapiece cimport BONAPIECES, HAND_NUMBERS, LISTED, features
from core_ext.eval.symmetry cimport on_middle_file
from core_ext.shogi.types cimport file_of, int32_t, rank_of

cdef enum:
    KINDS = 16                  # of pieces, by value: 7 in hand, 9 on the board
    BOARD_KINDS = 18            # of pieces on the board, colours apart
    DIFFERENCES = 17            # of two files or two ranks, -8 to 8
    OFFSETS = BOARD_KINDS * DIFFERENCES * DIFFERENCES   # of a piece on the board from a king
    ZONES = 11                  # of king squares that share pairs, see king_zone
    BOARD_PAIRS = BOARD_KINDS * BOARD_KINDS * DIFFERENCES * 9   # difference of ranks, distance of files
    RELATIVE_PAIRS = BOARD_PAIRS + HAND_NUMBERS * BOARD_KINDS * 9   # with a number in hand: a kind and its rank

cdef struct Kinds:
    int32_t kind[BONAPIECES]    # 0 to 15; -1: none
    int32_t board_kind[BONAPIECES]  # 0 to 17, colours apart; -1: in hand
    int32_t square[BONAPIECES]

cdef Kinds kinds

# By index before symmetry: the smallest index among the pair's symmetries (mirror image, inverse), and the sign of its
# value for Black there, 0 if it is its own inverse.
cdef struct RelativePairs:
    int32_t index[RELATIVE_PAIRS]
    float sign[RELATIVE_PAIRS]

cdef RelativePairs relative_pairs


cdef inline bint is_black(int number) noexcept nogil:
    return number < features.inverse[number]


cdef inline int offset_index(int king, int number) noexcept nogil:
    """Return the relative KP index, of kind and colour of the piece, files and ranks from the king; -1 if in hand."""
    cdef int files, ranks
    if kinds.board_kind[number] < 0:
        return -1
    files = file_of(kinds.square[number]) - file_of(king)
    ranks = rank_of(kinds.square[number]) - rank_of(king)
    if on_middle_file(king) and files < 0:
        files = -files
    return (kinds.board_kind[number] * DIFFERENCES + files + 8) * DIFFERENCES + ranks + 8


cdef inline int king_zone(int king) noexcept nogil:
    """Return the zone of a king on files 1 to 5: files 1-2, 3-4 or 5 on ranks i-h or g-f; above, each file alone."""
    cdef int file = file_of(king), rank = rank_of(king)
    return 4 * (file // 2) + (0 if rank >= 7 else 1 if rank >= 5 else 2 + file % 2)


cdef inline int row_slot(int king) noexcept nogil:
    """Return the place of the king's own parameter in a row; the kings of its zone share the one at 0."""
    cdef int file = file_of(king), rank = rank_of(king)
    return 1 + (rank - 7 + 2 * (file % 2) if rank >= 7 else rank - 5 + 2 * (file % 2) if rank >= 5 else rank)


cdef inline int list_relative_indices(const int32_t *numbers, int count, int32_t *indices) noexcept nogil:
    """List relative pairs before symmetry, all but those of two pieces in hand; return how many.

    The numbers ascend, so hands come first.
    """
    cdef int32_t first[LISTED]      # summand of the index of a pair with a later piece
    cdef int32_t second[LISTED]     # and with an earlier one
    cdef int32_t file[LISTED]
    cdef int i, j, kind, rank, held = 0, n = 0
    while held < count and numbers[held] < HAND_NUMBERS:
        first[held] = BOARD_PAIRS + numbers[held] * BOARD_KINDS * 9
        held += 1
    for i in range(held, count):
        kind = kinds.board_kind[numbers[i]]
        file[i] = file_of(kinds.square[numbers[i]])
        rank = rank_of(kinds.square[numbers[i]])
        first[i] = (kind * DIFFERENCES + 8 - rank) * 9
        second[i] = (kind * BOARD_KINDS * DIFFERENCES + rank) * 9
        for j in range(held):
            indices[n + j] = first[j] + kind * 9 + rank
        for j in range(held, i):
            indices[n + j] = second[i] + first[j] + (file[i] - file[j] if file[i] > file[j] else file[j] - file[i])
        n += i
    return n


cdef inline int list_relative_pairs(const int32_t *numbers, int count, int32_t *indices, float *signs) noexcept nogil:
    """List indices after symmetry, and their signs, from ascending numbers; return how many."""
    cdef int i, n = list_relative_indices(numbers, count, indices)
    for i in range(n):
        signs[i] = relative_pairs.sign[indices[i]]
        indices[i] = relative_pairs.index[indices[i]]
    return n


cdef inline int offset_between(int a, int b) noexcept nogil:
    """Return the index of one pair before symmetry; -1 if both are in hand."""
    cdef int32_t *pair = [a if a < b else b, b if a < b else a]
    cdef int32_t index
    return index if list_relative_indices(pair, 2, &index) else -1
