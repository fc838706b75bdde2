"""The keys of zobrist.pxd, drawn from splitmix64 (S. Vigna, public domain algorithm) with a fixed seed."""

from core_ext.shogi.types cimport COLORS, PIECES, SQUARES, type_of, uint64_t

cdef uint64_t _state = 0x4B6F6D61646F7269   # "Komadori"


cdef uint64_t draw() noexcept:
    global _state
    cdef uint64_t z
    _state += <uint64_t>0x9E3779B97F4A7C15
    z = _state
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef void init_keys() noexcept:
    cdef int piece, square, color, piece_type
    for piece in range(PIECES):
        for square in range(SQUARES):
            zobrist.board[piece][square] = draw() if type_of(piece) else 0
    for color in range(COLORS):
        for piece_type in range(8):
            zobrist.hand[color][piece_type] = draw() if piece_type else 0
    zobrist.side = draw()


init_keys()
