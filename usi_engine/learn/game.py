"""Items of files of games: games with scores, positions with valued moves, and faults."""

from __future__ import annotations

from dataclasses import dataclass

from core_ext.board import Board
from usi_engine.records.faults import Fault

START = Board().sfen()
RESULTS = {"b": 1, "w": -1, "d": 0}
LETTERS = {result: letter for letter, result in RESULTS.items()}
LARGEST_SCORE = 32767


class SourceError(ValueError):
    """A file, or an item of one, that cannot be read; the text quotes the fault."""


@dataclass(frozen=True)
class ScoredGame:
    """Moves in USI from a start position; scores in centipawns for the side to move, or None."""

    start: str
    moves: list[str]
    scores: list[int | None]
    result: int  # 1 Black won, -1 White, 0 draw
    ending: str = "-"  # one word


@dataclass(frozen=True)
class ValuedMoves:
    """Moves from one position, without a game or result; values in centipawns for the side to move."""

    start: str
    moves: list[str]
    values: list[int]


Item = ScoredGame | ValuedMoves | Fault


def clamped_score(score: int) -> int:
    """Clamp a score to 16 bits: other programs write greater ones for mates."""
    return max(-LARGEST_SCORE, min(score, LARGEST_SCORE))
