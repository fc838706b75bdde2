"""Moves as Japanese text: ▲７六歩 for people, ▲７六歩(77) as in KIF and in the lines of ShogiGUI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rsshogi.core

from usi_engine.core import load_core

MARKS = ("▲", "△")  # by colour


@dataclass(frozen=True)
class NamedMove:
    """A move in USI and in Japanese, and the sfen after it."""

    usi: str
    text: str
    sfen: str


def name_moves(start: str, moves: Sequence[str], before: Sequence[str] = ()) -> list[NamedMove]:
    """Name the moves that follow `before` from `start`, up to the first illegal one."""
    board, named = rsshogi.core.Board(start), list[NamedMove]()
    for move in before:
        board.apply_usi(move)
    for usi in moves:
        move_to_name = rsshogi.core.Move.from_usi(usi)
        text = move_to_name.to_ki2(board) if board.is_legal_move(move_to_name) else None
        if not text:
            break
        board.apply_move(move_to_name)
        named.append(NamedMove(usi, text.replace("　", ""), board.to_sfen()))
    return named


def kif_line(start: str, moves: Sequence[str], before: Sequence[str] = ()) -> str:
    """Return the moves that follow `before` as in KIF, each after the mark of its side, separated by spaces."""
    board, texts = load_core().board.from_moves(before, start), list[str]()
    for move in moves:
        texts.append(MARKS[board.turn] + board.kif(move))
        board.push(move)
    return " ".join(texts)
