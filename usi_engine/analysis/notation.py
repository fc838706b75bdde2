"""Moves as Japanese text: ▲７六歩 for people, ▲７六歩(77) as in KIF and in the lines of ShogiGUI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.analysis.formats import rsshogi

# A line of KIF: number, move; the move may hold a wide space after 同.
KIF_LINE = re.compile(r"^\s*\d+ (\S+(?:　\S+)?)", re.M)
MARKS = {"b": "▲", "w": "△"}


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
    record = rsshogi("record").Record.from_usi_main_line(start, [*before, *moves])
    texts = KIF_LINE.findall(record.to_kif())[len(before) : len(before) + len(moves)]
    first = start.split()[1]
    marks = MARKS["b"] + MARKS["w"] if first == "b" else MARKS["w"] + MARKS["b"]
    return " ".join(marks[(len(before) + at) % 2] + text for at, text in enumerate(texts))
