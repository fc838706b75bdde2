"""How a game ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Termination(Enum):
    """Why a game has ended."""

    CHECKMATE = "checkmate"
    NO_MOVES = "no moves"  # without a check; it loses, too
    REPETITION = "repetition"  # fourfold, a draw
    PERPETUAL_CHECK = "perpetual check"  # fourfold repetition by one side's checks: that side loses
    DECLARATION = "declaration"  # the side to move can declare a win (entering king)
    TRY = "try"  # a king has reached the square of the other at the start
    MOVE_LIMIT = "move limit"  # a draw


@dataclass(frozen=True)
class Outcome:
    """Why a game has ended, and who has won: BLACK, WHITE or None."""

    termination: Termination
    winner: int | None
