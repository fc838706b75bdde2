"""Many moves in CSA or KIF made at once: readers of records pass the ordinary moves of a game, as programs write them.

The functions make the moves up to the first that is not legal or has another form, and return those made in USI.
"""

from core_ext.board cimport Board
from core_ext.shogi.movegen cimport is_legal
from core_ext.shogi.ki2 import PIECES
from core_ext.shogi.notation import CSA_LETTERS, KANJI_RANKS, WIDE_FILES
from core_ext.shogi.position cimport Position, do_move, reserve_plies
from core_ext.shogi.sfen cimport format_move
from core_ext.shogi.types cimport (
    BLACK, KING, Move, Move32, NO_MOVE, NULL_MOVE, PROMOTED, board_move, can_promote, color_of, drop_move, make_square,
    promotion_move, to_square, type_of,
)

cdef enum:
    IN_HAND = -1    # the origin of a drop

cdef dict _letters = PIECES | CSA_LETTERS
cdef dict _types = {name: " PLNSBRGK".index(letters.lstrip("+")) + PROMOTED * letters.startswith("+")
                    for name, letters in _letters.items()}
cdef dict _digits = {sign: place for signs in ("123456789", WIDE_FILES, KANJI_RANKS)
                     for place, sign in enumerate(signs)}


cdef int square_at(str text, int place) except -2:
    """Return the square that two characters name, IN_HAND for others."""
    file, rank = _digits.get(text[place]), _digits.get(text[place + 1])
    return IN_HAND if file is None or rank is None else make_square(file, rank)


cdef Move checked(const Position *pos, int origin, int target, int before, int after) noexcept:
    """Return the legal move of a piece of this type, which has the type `after` then; NO_MOVE if there is none."""
    cdef Move move = NO_MOVE
    if target == IN_HAND:
        return NO_MOVE
    if origin == IN_HAND:
        move = drop_move(before, target) if before == after and 0 < before < KING else <Move>NO_MOVE
    elif type_of(pos.board[origin]) == before and color_of(pos.board[origin]) == pos.side:
        if before == after:
            move = board_move(origin, target)
        elif can_promote(before) and after == before + PROMOTED:
            move = promotion_move(origin, target)
    return move if move != NO_MOVE and is_legal(pos, move) else <Move>NO_MOVE


cdef int csa_move(Board board, str text) except -1:
    """Read `+7776FU`."""
    cdef int origin, before, after
    if text is None or len(text) != 7 or text[0] != ("+" if board.pos.side == BLACK else "-"):
        return NO_MOVE
    origin, after = square_at(text, 1), _types.get(text[5:], 0)
    if origin == IN_HAND and text[1:3] != "00":
        return NO_MOVE
    before = after if origin == IN_HAND else type_of(board.pos.board[origin])
    return checked(&board.pos, origin, square_at(text, 3), before, after)


cdef int kif_move(Board board, str text) except -1:
    """Read `７六歩(77)`, `同　歩成(77)` or `５五角打`."""
    cdef int target, before, begin = 2, end
    cdef Move32 last
    if text is None or len(text) < 3:
        return NO_MOVE
    if text[0] == "同":
        last = board.pos.state.move
        target, begin = to_square(last) if last not in (0, NULL_MOVE) else IN_HAND, 2 if text[1] in " 　" else 1
    else:
        target = square_at(text, 0)
    end = begin + (2 if text[begin] == "成" else 1)
    before, ending = _types.get(text[begin:end], 0), text[end:]
    if ending == "打":
        return checked(&board.pos, IN_HAND, target, before, before)
    promotes = ending[:1] == "成"
    ending = ending[promotes:]
    if len(ending) != 4 or square_at(ending, 1) == IN_HAND:
        return NO_MOVE
    return checked(&board.pos, square_at(ending, 1), target, before, before + PROMOTED * promotes)


cdef list push_moves(Board board, texts, int (*read)(Board, str) except -1):
    cdef list made = []
    cdef int move
    for text in list(texts):
        move = read(board, text)
        if move == NO_MOVE:
            break
        reserve_plies(&board.pos, 1)
        do_move(&board.pos, <Move>move)
        made.append(format_move(<Move>move))
    return made


def push_csa(board: Board, texts):
    """Make moves as `+7776FU`."""
    return push_moves(board, texts, csa_move)


def push_kif(board: Board, texts):
    """Make moves as `７六歩(77)`, `同　歩成(77)`, `５五角打`."""
    return push_moves(board, texts, kif_move)
