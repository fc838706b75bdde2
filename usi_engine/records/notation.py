"""Moves as Japanese text: ▲７六歩 for people, ▲７六歩(77) as in KIF and in the lines of ShogiGUI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.core import load_core
from usi_engine.records.formats import rsshogi

MARKS = ("▲", "△")  # by colour


@dataclass(frozen=True)
class NamedMove:
    """A move in USI and as text, and the sfen after it."""

    usi: str
    text: str
    sfen: str


def named(start: str, moves: Sequence[str], before: Sequence[str] = ()) -> list[NamedMove]:
    """The moves that follow `before` from `start`, as far as they are legal."""
    core = rsshogi("core")
    board, found = core.Board(start), list[NamedMove]()
    for move in before:
        board.apply_usi(move)
    for usi in moves:
        move = core.Move.from_usi(usi)
        text = move.to_ki2(board) if board.is_legal_move(move) else None
        if not text:
            break
        board.apply_move(move)
        found.append(NamedMove(usi, text.replace("　", ""), board.to_sfen()))
    return found


def kif_line(start: str, moves: Sequence[str], before: Sequence[str] = ()) -> str:
    """The moves that follow `before`, each as in KIF after the mark of its side, with spaces between them."""
    board, texts = load_core().board.from_moves(before, start), list[str]()
    for move in moves:
        texts.append(MARKS[board.turn] + board.kif(move))
        board.push(move)
    return " ".join(texts)
