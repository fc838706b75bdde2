"""Moves as text for people: ▲７六歩 as in KI2, ▲P-7f in western notation; ７六歩(77) as in KIF."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core_ext.board import Board
from core_ext.shogi.ki2 import MARKS, ki2_text
from core_ext.shogi.notation import PASS
from usi_engine import language

CAMP = ("abc", "ghi")  # ranks where the pieces of each colour promote


@dataclass(frozen=True)
class NamedMove:
    """A move in USI and as text, and the sfen after it."""

    usi: str
    text: str
    sfen: str


def japanese_text(board: Board, move: str) -> str:
    """Return a legal move as ▲７六歩."""
    return ki2_text(board, move).replace("　", "")


def western_text(board: Board, move: str) -> str:
    """Return a legal move as ▲P-7f: Hosking's notation with `x` captures, `*` drops, `+` promotes, `=` does not.

    The origin stands only if another piece of the kind can move to the same square.
    """
    mark, target = MARKS[board.turn], move[2:4]
    if move == PASS:
        return mark + PASS
    if move[1] == "*":
        return f"{mark}{move[0]}*{target}"
    piece = board.piece_at(move[:2]) or ""
    origins = {other[:2] for other in board.legal_moves if other[2:4] == target and other[1] != "*"} - {move[:2]}
    origin = move[:2] if any(board.piece_at(square) == piece for square in origins) else ""
    able = not piece.startswith("+") and piece.upper() not in ("K", "G")
    declined = "=" if able and {move[1], move[3]} & set(CAMP[board.turn]) else ""
    sign = "x" if board.piece_at(target) else "-"
    return f"{mark}{piece.upper()}{origin}{sign}{target}{'+' if move.endswith('+') else declined}"


def move_text(board: Board, move: str) -> str:
    """Return a legal move in the notation of the language of messages."""
    return (japanese_text if language.chosen() == "ja" else western_text)(board, move)


def name_moves(
    board: Board, moves: Sequence[str], name: Callable[[Board, str], str] = japanese_text
) -> list[NamedMove]:
    """Name the moves that follow a position, up to the first illegal one."""
    board, named = board.copy(), list[NamedMove]()
    for move in moves:
        if not board.is_legal(move):
            break
        text = name(board, move)
        board.push(move)
        named.append(NamedMove(move, text, board.sfen()))
    return named


def marked_kif(board: Board, move: str) -> str:
    """Return a legal move as in KIF, after the mark of its side."""
    return MARKS[board.turn] + board.kif(move)
