"""Parsing and formatting of USI text (sfen as in Shogidokoro's protocol description)."""

from cpython.object cimport PyObject

from core_ext.shogi.hand cimport hand_count, hand_one
from core_ext.shogi.movegen cimport is_legal
from core_ext.shogi.notation import PASS, PASSES
from core_ext.shogi.position cimport Position, attacked, begin_game, clear_position, occupied, put_piece
from core_ext.shogi.types cimport *

cdef extern from "Python.h":
    # Without an exception to raise, numbers beyond Py_ssize_t become its limits.
    Py_ssize_t PyNumber_AsSsize_t(object number, PyObject *error) except? -1
    bint PyUnicode_IS_ASCII(str text)
    const uint8_t *PyUnicode_1BYTE_DATA(str text)

_LETTERS = {PAWN: "P", LANCE: "L", KNIGHT: "N", SILVER: "S", GOLD: "G", BISHOP: "B", ROOK: "R", KING: "K"}
_TYPES = {letter: piece_type for piece_type, letter in _LETTERS.items()}
cdef int[KING + 1] _full_set = [0, 18, 4, 4, 4, 2, 2, 4, 2]    # pieces of each type
cdef int8_t[128] _pieces    # of each letter, else NO_PIECE
for _letter, _type in _TYPES.items():
    _pieces[ord(_letter)], _pieces[ord(_letter.lower())] = make_piece(BLACK, _type), make_piece(WHITE, _type)
_HAND_ORDER = (ROOK, BISHOP, GOLD, SILVER, KNIGHT, LANCE, PAWN)
_MAX_PLY_NUMBER = 100_000
# The text of each move is made once, when it is first needed, so lists of moves only refer to it.
cdef list _texts = [None] * (1 << 15)
_texts[NULL_MOVE] = PASS


cdef str piece_letters(int piece):
    cdef str letter = _LETTERS[raw_type(type_of(piece))]
    if type_of(piece) > KING:
        letter = "+" + letter
    return letter.lower() if color_of(piece) == WHITE else letter


cdef str format_square(int square):
    return chr(ord("1") + file_of(square)) + chr(ord("a") + rank_of(square))


cdef int square_of(Py_UCS4 file, Py_UCS4 rank) noexcept:
    """Return NO_SQUARE for characters that name no square."""
    if "1" <= file <= "9" and "a" <= rank <= "i":
        return make_square(ord(file) - ord("1"), ord(rank) - ord("a"))
    return NO_SQUARE


cdef int parse_square(str text) except -1:
    if len(text) == 2 and square_of(text[0], text[1]) != NO_SQUARE:
        return square_of(text[0], text[1])
    raise ValueError(f"not a square: '{text}'")


cdef int read_piece(Py_UCS4 letter, bint promoted, str text) except -1:
    """Read a piece `P`, `p` ...; errors quote `text`."""
    cdef int piece = _pieces[letter] if letter < 128 else NO_PIECE
    if piece == NO_PIECE or (promoted and not can_promote(type_of(piece))):
        raise ValueError(f"unknown piece '{'+' if promoted else ''}{letter}' in '{text}'")
    return piece + (PROMOTED if promoted else 0)


cdef int read_rank(Position *pos, str row, int rank, str text) except -1:
    """Read a rank from file 9 to file 1. Accept immobile pieces and two pawns on a file, as in published problems."""
    cdef int file = 8, piece
    cdef bint promoted = False
    cdef Py_UCS4 letter
    for letter in row:
        if letter == "+" and not promoted:
            promoted = True
        elif "1" <= letter <= "9" and not promoted:
            file -= ord(letter) - ord("0")
        else:
            if file < 0:
                raise ValueError(f"rank '{row}' has more than nine files in '{text}'")
            piece = read_piece(letter, promoted, text)
            if type_of(piece) == KING and pos.king[color_of(piece)] != NO_SQUARE:
                raise ValueError(f"two kings of one colour in '{text}'")
            put_piece(pos, piece, make_square(file, rank))
            promoted = False
            file -= 1
    if file != -1 or promoted:
        raise ValueError(f"rank '{row}' does not fill nine files in '{text}'")
    return 0


cdef int read_hands(Position *pos, str field, str text) except -1:
    """Read `-`, or pieces in any order, each after its count."""
    cdef str number = ""
    cdef int piece, held
    if field == "-":
        return 0
    for letter in field:
        if letter in "0123456789" and len(number) < 2:
            number += letter
            continue
        piece = read_piece(letter, False, text)
        held = int(number or "1")
        if type_of(piece) == KING or held == 0:
            raise ValueError(f"bad hand '{field}' in '{text}'")
        if hand_count(pos.state.hand[color_of(piece)], type_of(piece)) + held > _full_set[type_of(piece)]:
            raise ValueError(f"too many pieces '{letter}' in '{text}'")
        pos.state.hand[color_of(piece)] += held * hand_one(type_of(piece))
        number = ""
    if number:
        raise ValueError(f"bad hand '{field}' in '{text}'")
    return 0


cdef int check_set(const Position *pos, str text) except -1:
    """Refuse more pieces than a full set has, and a board without a king."""
    cdef int[KING + 1] counts = [0, 0, 0, 0, 0, 0, 0, 0, 0]
    cdef int square, piece_type, color
    for square in range(SQUARES):
        counts[raw_type(type_of(pos.board[square]))] += 1
    for piece_type in range(PAWN, KING + 1):
        if piece_type != KING:
            for color in range(COLORS):
                counts[piece_type] += hand_count(pos.state.hand[color], piece_type)
        if counts[piece_type] > _full_set[piece_type]:
            raise ValueError(f"too many pieces '{_LETTERS[piece_type]}' in '{text}'")
    if counts[KING] == 0:
        raise ValueError(f"no king in '{text}'")
    return 0


cdef int read_ply(str field, str text) except -1:
    if not (field.isascii() and field.isdigit()) or len(field) > 6 or int(field) > _MAX_PLY_NUMBER:
        raise ValueError(f"bad move number '{field}' in '{text}'")
    return max(int(field), 1)


cdef int read_fields(Position *pos, list fields, str text) except -1:
    rows = fields[0].split("/")
    if len(rows) != 9:
        raise ValueError(f"{len(rows)} ranks in '{text}'")
    if fields[1] not in ("b", "w"):
        raise ValueError(f"bad side to move '{fields[1]}' in '{text}'")
    for rank, row in enumerate(rows):
        read_rank(pos, row, rank, text)
    read_hands(pos, fields[2], text)
    pos.side = BLACK if fields[1] == "b" else WHITE
    pos.ply = read_ply(fields[3], text) if len(fields) == 4 else 1
    return 0


cdef int parse_sfen(Position *pos, str text) except -1:
    cdef list fields = text.split()
    clear_position(pos)
    if len(fields) not in (3, 4):
        raise ValueError(f"an sfen has 3 or 4 fields: '{text}'")
    read_fields(pos, fields, text)
    return complete_position(pos, text)


cdef int complete_position(Position *pos, str text) except -1:
    cdef int king = pos.king[pos.side ^ 1]
    check_set(pos, text)
    if king != NO_SQUARE and attacked(pos, king, pos.side, occupied(pos)):
        raise ValueError(f"the side to move could capture the king in '{text}'")
    begin_game(pos)
    return 0


cdef str format_rank(const Position *pos, int rank):
    cdef str row = ""
    cdef int gap = 0, file
    for file in range(8, -1, -1):
        if not pos.board[make_square(file, rank)]:
            gap += 1
            continue
        row += (str(gap) if gap else "") + piece_letters(pos.board[make_square(file, rank)])
        gap = 0
    return row + (str(gap) if gap else "")


cdef str format_hands(const Position *pos):
    cdef str text = ""
    for color in (BLACK, WHITE):
        for piece_type in _HAND_ORDER:
            held = hand_count(pos.state.hand[<int>color], piece_type)
            if held:
                text += (str(held) if held > 1 else "") + piece_letters(make_piece(color, piece_type))
    return text or "-"


cdef str format_sfen(const Position *pos):
    cdef str board = "/".join([format_rank(pos, rank) for rank in range(9)])
    cdef str side = "b" if pos.side == BLACK else "w"
    return f"{board} {side} {format_hands(pos)} {pos.ply}"


cdef str make_text(Move move):
    """Make the text of a move and keep it."""
    cdef str target = format_square(to_square(move))
    if is_drop(move):
        text = f"{_LETTERS[dropped_type(move)]}*{target}"
    else:
        text = format_square(from_square(move)) + target + ("+" if is_promotion(move) else "")
    _texts[move] = text
    return text


cdef str format_move(Move move):
    cdef object text = _texts[move]
    return make_text(move) if text is None else text


cdef int read_word(const uint8_t *text, Py_ssize_t length) noexcept:
    """Return the 16 bits of `7g7f`, `7g7f+` or `P*5e`; NO_MOVE for any other text."""
    cdef bint promotes = length == 5 and text[4] == b"+"
    cdef int origin, target
    if length != 4 and not promotes:
        return NO_MOVE
    target = square_of(text[2], text[3])
    if text[1] == b"*" and not promotes and text[0] < 128 and PAWN <= _pieces[text[0]] <= GOLD:
        return NO_MOVE if target == NO_SQUARE else drop_move(_pieces[text[0]], target)
    origin = square_of(text[0], text[1])
    if origin == NO_SQUARE or target == NO_SQUARE or origin == target:
        return NO_MOVE
    return promotion_move(origin, target) if promotes else board_move(origin, target)


cdef int read_move(str text) except -1:
    cdef int word = NO_MOVE
    if PyUnicode_IS_ASCII(text):
        word = read_word(PyUnicode_1BYTE_DATA(text), len(text))
    if word == NO_MOVE and text not in PASSES:
        raise ValueError(f"not a move: '{text}'")
    return word or NULL_MOVE


cdef bint is_word(Py_ssize_t word) noexcept:
    """Return whether these can be the 16 bits of a move, or of a pass."""
    if not 0 <= word < 1 << 15 or to_square(word) >= SQUARES:
        return False
    if is_drop(word):
        return PAWN <= dropped_type(word) <= GOLD and not is_promotion(word)
    return from_square(word) < SQUARES and (from_square(word) != to_square(word) or word == NULL_MOVE)


cdef int word_of(object move) except -1:
    cdef Py_ssize_t word
    if isinstance(move, str):
        return read_move(move)
    word = PyNumber_AsSsize_t(move, NULL)
    if not is_word(word):
        raise ValueError(f"not a move: '{move}'")
    return <int>word


cdef int parse_move(const Position *pos, object move) except -1:
    cdef int word = word_of(move)
    if not is_legal(pos, <Move>word):
        raise ValueError(f"illegal move '{move}' in '{format_sfen(pos)}'")
    return word
