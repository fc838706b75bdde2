"""Moves as KI2 text (`▲６八金右`), from and to USI; KIF text (`７六歩(77)`) is read too.

The words that tell pieces of one kind apart (右 左 直 上 寄 引) follow the rules of the Japan Shogi Association,
https://www.shogi.or.jp/faq/kihuhyouki.html. As in other programs, a pinned piece counts as one that could move.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from core_ext.shogi.notation import KIF_PASS, KIF_PIECES, NARROW, PASS, RANKS, SIDE_MARKS, Position, target_text

MARKS = ("▲", "△")  # by colour
PIECES = {name: letters for letters, name in KIF_PIECES.items()}
PIECES |= {"王": "K", "杏": "+L", "圭": "+N", "全": "+S", "竜": "+R"}
# Every \s* is followed by a sign that is not a space, so that a match takes linear time.
MOVE = re.compile(
    r"([▲△▼▽☗☖]?)\s*(?:パス|(同|[1-9１-９][1-9１-９一二三四五六七八九])\s*"
    r"(成香|成桂|成銀|[歩香桂銀金角飛玉王と杏圭全馬龍竜])([左右直上行入寄引下]*)(成|不成|生|打)?(?:\s*[(（]([1-9１-９]{2})[)）])?)"
)
SYNONYMS = str.maketrans("行入下", "上上引")
# From where a piece comes, as signs for the side to move: 1 is right of its target, 1 is below.
Vector = tuple[int, int]
WORDS: dict[str, Callable[[Vector], bool]] = {
    "右": lambda origin: origin[0] > 0,
    "左": lambda origin: origin[0] < 0,
    "直": lambda origin: origin == (0, 1),
    "上": lambda origin: origin[1] > 0,
    "寄": lambda origin: origin[1] == 0,
    "引": lambda origin: origin[1] < 0,
}
SIDES, MOTIONS = {1: "右", -1: "左", 0: "直"}, {1: "上", 0: "寄", -1: "引"}
RANGERS = ("+B", "+R")  # take no 直: of two, one is 右 and the other 左
PROMOTABLE = "PLNSBR"


def square_of(text: str) -> str:
    """Return `7f` for `７六`, `76` or `7六`."""
    digits = text.translate(NARROW)
    return digits[0] + RANKS[int(digits[1]) - 1]


def last_square(board: Position) -> str:
    """Return the destination of the last move; empty if there is none, and after a pass."""
    try:
        last = board.peek()
    except IndexError:
        return ""
    return "" if last == PASS else last[2:4]


def vector(origin: str, square: str, turn: int) -> Vector:
    """Return where an origin lies, seen from its target by the side to move."""
    sign = -1 if turn else 1
    across, along = int(square[0]) - int(origin[0]), RANKS.index(origin[1]) - RANKS.index(square[1])
    return sign * ((across > 0) - (across < 0)), sign * ((along > 0) - (along < 0))


def origins_of(board: Position, piece: str, square: str) -> list[str]:
    """Return the squares from which pieces of the side to move attack a square. `piece` is upper case."""
    letters = piece.lower() if board.turn else piece
    return [origin for origin in board.attackers(board.turn, square) if board.piece_at(origin) == letters]


# ---- reading ----


def find_ki2(text: str, board: Position) -> str:
    """Return the only legal move that a text means. ValueError quotes the text."""
    match = MOVE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not a KIF or KI2 move: '{text}'")
    try:
        return read_move(match, board)
    except ValueError as error:
        raise ValueError(f"{error}: '{text}'") from None


def read_move(match: re.Match[str], board: Position) -> str:
    """Return the legal move in USI that a match of MOVE means. ValueError with the reason."""
    if match[1] and match[1] not in SIDE_MARKS[board.turn]:
        raise ValueError("a move of the other side")
    if not match[2]:
        return PASS
    found = candidates(match, board)
    if len(found) > 1:
        raise ValueError(f"ambiguous move, one of '{', '.join(found)}'")
    if not found:
        raise ValueError("illegal move")
    return found[0]


def candidates(match: re.Match[str], board: Position) -> list[str]:
    """Return the legal moves that a match of MOVE may mean."""
    square = last_square(board) if match[2] == "同" else square_of(match[2])
    piece, words, ending = PIECES[match[3]], match[4].translate(SYNONYMS), match[5]
    if not square:
        return []
    origins = [] if ending == "打" else origins_of(board, piece, square)
    if match[6]:
        origins = [origin for origin in origins if origin == square_of(match[6])]
    chosen = [origin + square + "+" * (ending == "成") for origin in choose(words, origins, piece, square, board.turn)]
    legal = [move for move in chosen if board.is_legal(move)]
    drop = f"{piece}*{square}"
    may_drop = ending == "打" or not (legal or words or ending or match[6])
    return [drop] if may_drop and board.is_legal(drop) else legal


def choose(words: str, origins: list[str], piece: str, square: str, turn: int) -> list[str]:
    """Return the origins that fit the words; a single one needs none."""
    if len(origins) < 2:
        return origins
    found = {origin: vector(origin, square, turn) for origin in origins}
    for word in words:
        straight = piece in RANGERS and word in "右左"
        found = {origin: at for origin, at in found.items() if WORDS[word](at) or (straight and at[0] == 0)}
    if len(found) > 1 and piece in RANGERS and ("右" in words or "左" in words):
        found = {origin: at for origin, at in found.items() if at[0]}
    return list(found)


# ---- writing ----


def ki2_text(board: Position, move: str) -> str:
    """Return a legal move or a pass as in KI2, with the mark of its side: `▲６八金右`, `△同　銀`, `▲パス`."""
    if move == PASS:
        return MARKS[board.turn] + KIF_PASS
    square, is_drop = move[2:4], move[1] == "*"
    piece = move[0] if is_drop else str(board.piece_at(move[:2])).upper()
    place = target_text(square, last_square(board))
    origins = origins_of(board, piece, square)
    if is_drop:
        ending = "打" if origins else ""
    else:
        ending = words_for(move[:2], origins, piece, square, board.turn) + promotion(move, piece, board.turn)
    return MARKS[board.turn] + place + KIF_PIECES[piece] + ending


def words_for(origin: str, origins: list[str], piece: str, square: str, turn: int) -> str:
    """Return the shortest words that tell a piece from the others that could move to the square."""
    own, others = vector(origin, square, turn), [vector(one, square, turn) for one in origins if one != origin]
    if not others:
        return ""
    if all(other[1] != own[1] for other in others):
        return MOTIONS[own[1]]
    side = SIDES[-others[0][0] if piece in RANGERS and not own[0] else own[0]]
    return side if all(other[0] != own[0] for other in others) else side + MOTIONS[own[1]]


def promotion(move: str, piece: str, turn: int) -> str:
    """Return 成, 不成 if the piece could promote, or nothing."""
    if move.endswith("+"):
        return "成"
    zone = RANKS[6:] if turn else RANKS[:3]
    return "不成" if piece in PROMOTABLE and (move[1] in zone or move[3] in zone) else ""
