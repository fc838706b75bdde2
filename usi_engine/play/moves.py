"""A move as a person types it: USI (7g7f, P*5e), CSA (7776FU, +0055FU), KIF (７六歩(77)), KI2 (▲７六歩, 同銀)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from core_ext.shogi import ki2
from usi_engine.records import usi_text

if TYPE_CHECKING:
    from core_ext.board import Board

RANKS = "abcdefghi"
DIGITS = re.compile(r"([1-9]{4})(\+?)")
CSA_MOVE = re.compile(r"[+-]?(00|[1-9]{2})[1-9]{2}[A-Z]{2}")


class MoveError(ValueError):
    """Text that is not a legal move; the message is one line for the player."""


def read_move(text: str, board: Board) -> str:
    """Return the legal move in USI. MoveError."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if CSA_MOVE.fullmatch(plain.upper()):
        return csa_move(plain.upper(), board)
    move = usi_of(plain)
    if move is None:
        return japanese_move(plain, text, board)
    if not board.is_legal(move):
        raise MoveError(f"'{text}': {fault(board, move)}")
    return move


def usi_of(text: str) -> str | None:
    """Return the USI form of a move in USI or in four digits; None for other text."""
    usi = text[:-1] if len(text) > 1 and text[1] == "*" and text.endswith("+") else text
    usi = usi[0].upper() + usi[1:].lower() if "*" in usi[1:2] else usi.lower()
    if usi_text.MOVE.fullmatch(usi):
        return usi
    digits = DIGITS.fullmatch(text)
    return square(digits[1][:2]) + square(digits[1][2:]) + digits[2] if digits else None


def csa_move(text: str, board: Board) -> str:
    """Return a move of CSA, which names the piece after the move. MoveError."""
    try:
        return board.parse_csa(text)
    except ValueError as error:
        raise MoveError(str(error)) from None


def square(digits: str) -> str:
    """Return `76` as `7f`."""
    return digits[0] + RANKS[int(digits[1]) - 1]


def japanese_move(plain: str, text: str, board: Board) -> str:
    """Return a move of KIF or KI2. MoveError."""
    match = ki2.MOVE.fullmatch(plain)
    if match is None:
        raise MoveError(f"'{text}' is neither a command nor a move; help lists the commands")
    found = ki2.candidates(match, board)
    if len(found) != 1:
        raise MoveError(f"'{text}' could be {' or '.join(found)}" if found else f"'{text}' is not legal here")
    return found[0]


def fault(board: Board, move: str) -> str:
    """Say why a move is illegal."""
    mover = "wb"[board.sfen().split()[1] == "b"]
    if move[1] == "*":
        return drop_fault(board, move, mover)
    piece = board.piece_at(move[:2])
    if piece is None:
        return f"there is no piece on {move[:2]}"
    if piece[-1].isupper() != (mover == "b"):
        return f"the piece on {move[:2]} is not yours"
    if board.is_check():
        return "your king would be in check"
    return "the piece cannot move there, or your king would be in check"


def drop_fault(board: Board, move: str, mover: str) -> str:
    """Say why a drop is illegal."""
    pawn = "P" if mover == "b" else "p"
    if move[0] not in board.hand("bw".index(mover)):
        return "you have no such piece in hand"
    if board.piece_at(move[2:]):
        return f"{move[2:]} is occupied"
    if move[0] == "P" and pawn in [board.piece_at(move[2] + rank) for rank in RANKS]:
        return "two pawns on a file (nifu)"
    return "your king would be in check" if board.is_check() else "this drop is not allowed"
