"""Packed positions: YaneuraOu's packed sfen and Apery's Huffman-coded position, bits from the lowest one of each byte.

Both have 1 bit for the side to move, 7 for the square of each king, a code for every other square by number, then codes
of the pieces in Black's hand, in White's and, if a set is not complete, of those in neither: 256 bits in all. The codes
are those of YaneuraOu (source/extra/sfen_packer.cpp) and of cshogi.
"""

from libc.string cimport memcpy, memset

from core_ext.shogi.hand cimport hand_count, hand_one
from core_ext.shogi.packed cimport HCP, PSV
from core_ext.shogi.position cimport Position, clear_position, hand_of, has_both_kings, put_piece
from core_ext.shogi.sfen cimport complete_position, format_sfen
from core_ext.shogi.types cimport *

cdef enum:
    LAYOUTS = 2
    BYTES = 32
    BITS = 256
    LONGEST = 8         # bits of a code
    IN_HAND = PIECES    # added to a piece: its code in a hand
    IN_BOX = 2 * PIECES     # added to a piece type: its code if neither side has it
    CODED = IN_BOX + PIECE_TYPES
    NO_CODE = 255

# The codes, first bit first. On the board, c is the colour and p the promotion.
_BOARD = (
    {PAWN: "10pc", LANCE: "1100pc", KNIGHT: "1101pc", SILVER: "1110pc", BISHOP: "111110pc", ROOK: "111111pc",
     GOLD: "11110c"},
    {PAWN: "10cp", LANCE: "1100cp", KNIGHT: "1110cp", SILVER: "1101cp", BISHOP: "111110cp", ROOK: "111111cp",
     GOLD: "11110c"},
)
_HAND = (
    {PAWN: "00c", LANCE: "1000c", KNIGHT: "1010c", SILVER: "1100c", BISHOP: "111100c", ROOK: "111110c", GOLD: "1110c"},
    {PAWN: "00c", LANCE: "1000c", KNIGHT: "1100c", SILVER: "1010c", GOLD: "1110c", BISHOP: "111110c", ROOK: "111111c"},
)
_BOX = (
    {PAWN: "010", LANCE: "10010", KNIGHT: "10110", SILVER: "11010", GOLD: "11011", BISHOP: "1111010", ROOK: "1111110"},
    {PAWN: "010", LANCE: "10010", KNIGHT: "11010", SILVER: "10110", GOLD: "10111", BISHOP: "1111000", ROOK: "1111010"},
)
cdef int[7] _order = [PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK]      # of pieces in hand and in neither
cdef int[KING] _full_set = [0, 18, 4, 4, 4, 2, 2, 4]
cdef uint8_t[LAYOUTS][CODED] _code, _length
# The piece of a code, by whether it is on the board, its length and its bits.
cdef uint8_t[LAYOUTS][2][LONGEST + 1][1 << LONGEST] _decoded


cdef void set_code(int layout, int piece, str code):
    cdef int bits = int(code[::-1], 2), size = len(code)
    _code[layout][piece], _length[layout][piece] = bits, size
    _decoded[layout][piece < IN_HAND][size][bits] = piece


cdef void set_codes(int layout):
    """Fill the tables of a layout."""
    memset(_decoded[layout], NO_CODE, sizeof(_decoded[layout]))
    set_code(layout, NO_PIECE, "0")
    for piece_type in _order:
        set_code(layout, IN_BOX + <int>piece_type, _BOX[layout][piece_type])
        for color in range(COLORS):
            coded = str(color)
            set_code(layout, IN_HAND + make_piece(color, piece_type), _HAND[layout][piece_type].replace("c", coded))
            for promoted in range(1 + can_promote(piece_type)):
                text = _BOARD[layout][piece_type].replace("c", coded).replace("p", str(promoted))
                set_code(layout, make_piece(color, <int>piece_type + PROMOTED * <int>promoted), text)


set_codes(PSV)
set_codes(HCP)


cdef struct Bits:
    uint8_t *data
    int at


cdef void write(Bits *bits, int value, int size) noexcept nogil:
    cdef int i
    for i in range(size):
        bits.data[bits.at >> 3] |= (value >> i & 1) << (bits.at & 7)
        bits.at += 1


cdef int read(Bits *bits, int size) noexcept nogil:
    """Return the next bits; those after the last one are 0."""
    cdef int i, value = 0
    for i in range(size):
        if bits.at < BITS:
            value |= (bits.data[bits.at >> 3] >> (bits.at & 7) & 1) << i
        bits.at += 1
    return value


cdef int read_piece(Bits *bits, int layout, bint on_board) noexcept nogil:
    """Return the piece of the next code, or NO_CODE."""
    cdef int size, value = 0
    for size in range(1, LONGEST + 1):
        value |= read(bits, 1) << (size - 1)
        if _decoded[layout][on_board][size][value] != NO_CODE:
            return _decoded[layout][on_board][size][value]
    return NO_CODE


cdef void write_position(const Position *pos, Bits *bits, int layout) noexcept nogil:
    """Write a position with both kings; no more pieces than a set has fit into the 256 bits."""
    cdef int[KING] left
    cdef int square, color, i, held
    memcpy(left, _full_set, sizeof(left))
    write(bits, pos.side, 1)
    write(bits, pos.king[BLACK], 7)
    write(bits, pos.king[WHITE], 7)
    for square in range(SQUARES):
        if type_of(pos.board[square]) != KING:
            write(bits, _code[layout][pos.board[square]], _length[layout][pos.board[square]])
            left[raw_type(type_of(pos.board[square]))] -= 1
    for color in range(COLORS):
        for i in range(7):
            held = hand_count(hand_of(pos, color), _order[i])
            write_many(bits, layout, IN_HAND + make_piece(color, _order[i]), held)
            left[_order[i]] -= held
    for i in range(7):
        write_many(bits, layout, IN_BOX + _order[i], left[_order[i]])


cdef void write_many(Bits *bits, int layout, int piece, int count) noexcept nogil:
    cdef int _
    for _ in range(count):
        write(bits, _code[layout][piece], _length[layout][piece])


cdef bytes pack_position(const Position *pos, int layout):
    cdef uint8_t data[BYTES]
    cdef Bits bits
    if not has_both_kings(pos):
        raise ValueError(f"a king is missing in '{format_sfen(pos)}'")
    memset(data, 0, BYTES)
    bits.data, bits.at = data, 0
    write_position(pos, &bits, layout)
    return data[:BYTES]


cdef bint read_position(Position *pos, Bits *bits, int layout) noexcept nogil:
    """Set up the pieces; return whether the bits are those of kings on two squares and of pieces."""
    cdef int square, piece, side = read(bits, 1), black = read(bits, 7), white = read(bits, 7)
    if black >= SQUARES or white >= SQUARES or black == white:
        return False
    put_piece(pos, make_piece(BLACK, KING), black)
    put_piece(pos, make_piece(WHITE, KING), white)
    for square in range(SQUARES):
        if square != black and square != white:
            piece = read_piece(bits, layout, True)
            if piece == NO_CODE:
                return False
            if piece != NO_PIECE:
                put_piece(pos, piece, square)
    pos.side = side
    return read_hands(pos, bits, layout)


cdef bint read_hands(Position *pos, Bits *bits, int layout) noexcept nogil:
    """Read the pieces in hand and in neither; return whether the last code ends with the last bit."""
    cdef int piece
    while bits.at < BITS:
        piece = read_piece(bits, layout, False)
        if piece == NO_CODE:
            return False
        if piece < IN_BOX:
            piece -= IN_HAND
            if hand_count(hand_of(pos, color_of(piece)), type_of(piece)) == _full_set[type_of(piece)]:
                return False
            pos.state.hand[color_of(piece)] += hand_one(type_of(piece))
    return bits.at == BITS


cdef int unpack_position(Position *pos, object data, int layout) except -1:
    cdef bytes copy = memoryview(data).tobytes()
    cdef Bits bits
    if len(copy) != BYTES:
        raise ValueError(f"a packed position has {BYTES} bytes, not {len(copy)}")
    bits.data, bits.at = <uint8_t *><char *>copy, 0
    clear_position(pos)
    if not read_position(pos, &bits, layout):
        raise ValueError(f"not a packed position: '{copy.hex()}'")
    return complete_position(pos, copy.hex())
