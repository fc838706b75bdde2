"""Results of games."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Termination(Enum):
    """The reason why a game has ended."""

    CHECKMATE = "checkmate"
    NO_MOVES = "no moves"  # not in check; loses too
    REPETITION = "repetition"  # fourfold, a draw
    PERPETUAL_CHECK = "perpetual check"  # fourfold repetition by one side's checks: that side loses
    DECLARATION = "declaration"  # the side to move can declare a win (entering king)
    TRY = "try"  # a king has reached the start square of the enemy king
    MOVE_LIMIT = "move limit"  # a draw


@dataclass(frozen=True)
class Outcome:
    """The reason why a game has ended, and the winner: BLACK, WHITE or None."""

    termination: Termination
    winner: int | None
