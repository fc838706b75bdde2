"""How much of the soft limit a move deserves: less when the best move stands firm, more when its value falls."""

from __future__ import annotations

# Each change of the best move counts for this much more time, and fades by half at every depth.
CHANGE_WEIGHT = 0.35
FADE = 0.5
# Best move unchanged for this many depths: at most this much is saved.
STEADY_DEPTHS = 8
STEADY_SAVING = 0.4
# A fall of this many centipawns since the depth before last doubles the time at most.
FALL_UNIT = 80
LEAST_FACTOR, MOST_FACTOR = 0.4, 2.5
# The next depth takes longer than all before: it is begun only until this share of the time is spent.
BEGIN_SHARE = 0.6


class Patience:
    """Follows best move and value depth by depth."""

    def __init__(self) -> None:
        self._move = ""
        self._values: list[int] = []
        self._changes = 0.0
        self._steady = 0

    def depth_done(self, move: str, value: int) -> None:
        """Take in the result of one finished depth."""
        changed = bool(self._values) and move != self._move
        self._changes = self._changes * FADE + changed
        self._steady = 0 if changed else self._steady + 1
        self._move = move
        self._values.append(value)

    def factor(self) -> float:
        """What to multiply the soft limit by."""
        calm = 1 - STEADY_SAVING * min(self._steady, STEADY_DEPTHS) / STEADY_DEPTHS
        unrest = 1 + CHANGE_WEIGHT * self._changes
        return min(max(calm * unrest * self._trend(), LEAST_FACTOR), MOST_FACTOR)

    def spent(self, elapsed: int, soft: int) -> bool:
        """Whether another depth is not worth beginning."""
        return elapsed >= soft * self.factor() * BEGIN_SHARE

    def _trend(self) -> float:
        if len(self._values) < 3:
            return 1.0
        fall = self._values[-3] - self._values[-1]
        return 1 + min(max(fall / FALL_UNIT, -0.2), 1.0)
