"""Lines of moves as Japanese text: ▲７六歩 as in KI2, ７六歩(77) as in KIF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core_ext.shogi.ki2 import MARKS, ki2_text
from usi_engine.core import load_core


@dataclass(frozen=True)
class NamedMove:
    """A move in USI and in Japanese, and the sfen after it."""

    usi: str
    text: str
    sfen: str


def name_moves(start: str, moves: Sequence[str], before: Sequence[str] = ()) -> list[NamedMove]:
    """Name the moves that follow `before` from `start`, up to the first illegal one."""
    board, named = load_core().board.from_moves(before, start), list[NamedMove]()
    for move in moves:
        if not board.is_legal(move):
            break
        text = ki2_text(board, move).replace("　", "")
        board.push(move)
        named.append(NamedMove(move, text, board.sfen()))
    return named


def kif_line(start: str, moves: Sequence[str], before: Sequence[str] = ()) -> str:
    """Return the moves that follow `before` as in KIF, each after the mark of its side, separated by spaces."""
    board, texts = load_core().board.from_moves(before, start), list[str]()
    for move in moves:
        texts.append(MARKS[board.turn] + board.kif(move))
        board.push(move)
    return " ".join(texts)
