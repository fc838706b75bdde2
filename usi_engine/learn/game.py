"""What files of games hold: games, positions with valued moves, and items that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

from core_ext.board import Board

START = Board().sfen()
RESULTS = {"b": 1, "w": -1, "d": 0}
LETTERS = {result: letter for letter, result in RESULTS.items()}
LARGEST_SCORE = 32767


class SourceError(ValueError):
    """A file or an item of it that cannot be read; the text quotes what is wrong."""


@dataclass(frozen=True)
class Game:
    """Moves in USI from a start position; scores in centipawns for the side to move, or None."""

    start: str
    moves: list[str]
    scores: list[int | None]
    result: int  # 1 Black won, -1 White, 0 draw
    ending: str = "-"  # one word


@dataclass(frozen=True)
class ValuedMoves:
    """Moves from one position with their values in centipawns for the side that makes them; no game, no result."""

    start: str
    moves: list[str]
    values: list[int]


@dataclass(frozen=True)
class Fault:
    """In place of an item that cannot be used."""

    reason: str


Item = Game | ValuedMoves | Fault


def clamped_score(score: int) -> int:
    """The nearest score that 16 bits hold: other programs write more for mates."""
    return max(-LARGEST_SCORE, min(score, LARGEST_SCORE))
