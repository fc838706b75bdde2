"""A move as a person types it: USI (7g7f, P*5e), CSA (7776FU, +0055FU), KIF (７六歩(77)), KI2 (▲７六歩, 同銀),
western (P-7f, Bx2b+).
"""

import re
import unicodedata

from core_ext.board import Board
from core_ext.shogi import ki2
from core_ext.shogi.notation import KANJI_RANKS, RANKS, WIDE_FILES
from usi_engine.language import _, chosen
from usi_engine.records import usi_text
from usi_engine.records.notation import western_text
from usi_engine.rules import MoveError

# Forms that people write but records do not.
STRICT = {"成り": "成", "なり": "成", "成らず": "不成", "ならず": "不成", "打ち": "打", "うつ": "打", "打つ": "打"}
LOOSE = re.compile("|".join(STRICT))
DIGITS = re.compile(r"([1-9]{4})(\+?)")
CSA_MOVE = re.compile(r"[+-]?(00|[1-9]{2})[1-9]{2}[A-Z]{2}")


class UnknownMove(MoveError):
    """Text that is not a move in any notation."""


def read_move(text: str, board: Board) -> str:
    """Return the legal move in USI. MoveError."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if CSA_MOVE.fullmatch(plain.upper()):
        return csa_move(plain.upper(), board)
    western = (move for move in board.legal_moves(include_all=True) if western_text(board, move)[1:] == plain)
    move = usi_of(plain) or next(western, None)
    if move is None:
        return japanese_move(plain, text, board)
    if not board.is_legal(move):
        raise MoveError(_("{place}: {reason}").format(place=f"'{text}'", reason=fault(board, move)))
    return move


def usi_of(text: str) -> str | None:
    """Return the USI form of a move in USI or in four digits; None for other text."""
    usi = text[:-1] if len(text) > 1 and text[1] == "*" and text.endswith("+") else text
    usi = usi[0].upper() + usi[1:].lower() if "*" in usi[1:2] else usi.lower()
    if usi_text.MOVE.fullmatch(usi):
        return usi
    digits = DIGITS.fullmatch(text)
    return ki2.square_of(digits[1][:2]) + ki2.square_of(digits[1][2:]) + digits[2] if digits else None


def csa_move(text: str, board: Board) -> str:
    """Return a move of CSA, which names the piece after the move. MoveError."""
    try:
        return board.parse_csa(text)
    except ValueError:
        raise MoveError(_("'{text}' is not legal here").format(text=text)) from None


def japanese_move(plain: str, text: str, board: Board) -> str:
    """Return a move of KIF or KI2. MoveError."""
    match = ki2.MOVE.fullmatch(LOOSE.sub(lambda loose: STRICT[loose[0]], plain))
    if match is None:
        raise UnknownMove(_("'{text}' is neither a command nor a move").format(text=text))
    found = ki2.candidates(match, board)
    if not found:
        raise MoveError(_("'{text}' is not legal here").format(text=text))
    if len(found) > 1:
        moves = ", ".join(f"{ki2.ki2_text(board, move)} ({move})" for move in found)
        raise MoveError(_("'{text}' could be one of {moves}").format(text=text, moves=moves))
    return found[0]


def named_square(usi: str) -> str:
    """Return the name of a square in the user's language."""
    return WIDE_FILES[int(usi[0]) - 1] + KANJI_RANKS[RANKS.index(usi[1])] if chosen() == "ja" else usi


def fault(board: Board, move: str) -> str:
    """Say why a move is illegal."""
    if move[1] == "*":
        return drop_fault(board, move)
    piece, origin = board.piece_at(move[:2]), named_square(move[:2])
    if piece is None:
        return _("there is no piece on {square}").format(square=origin)
    if piece[-1].isupper() != (board.turn == 0):
        return _("the piece on {square} is not yours").format(square=origin)
    if board.is_check():
        return _("your king would be in check")
    return _("the piece cannot move there, or your king would be in check")


def drop_fault(board: Board, move: str) -> str:
    """Say why a drop is illegal."""
    if move[0] not in board.hand(board.turn):
        return _("you have no such piece in hand")
    if board.piece_at(move[2:]):
        return _("{square} is occupied").format(square=named_square(move[2:]))
    if move[0] == "P" and "Pp"[board.turn] in [board.piece_at(move[2] + rank) for rank in RANKS]:
        return _("two pawns on a file (nifu)")
    return _("your king would be in check") if board.is_check() else _("this drop is not allowed")
