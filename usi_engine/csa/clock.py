"""The time control of a game and both players' clocks, as the server counts them. All times in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from usi_engine.language import _

# The time for each move of a game without any limit, which USI cannot express.
UNLIMITED_BYOYOMI = 10_000
# Longer times are refused or cut: engines count in 32 bits.
LONGEST_MS = 2**31 - 1


@dataclass(frozen=True)
class TimeControl:
    """The time control of one player. `unit` is that of the times a server reports (nearly always a second)."""

    total: int = 0
    byoyomi: int = 0
    increment: int = 0
    unit: int = 1000

    def __str__(self) -> str:
        parts = [_("{seconds:g} s").format(seconds=self.total / 1000)]
        parts += [_("{seconds:g} s byoyomi").format(seconds=self.byoyomi / 1000)] if self.byoyomi else []
        parts += [_("{seconds:g} s a move").format(seconds=self.increment / 1000)] if self.increment else []
        return " + ".join(parts)

    def milliseconds(self, units: Decimal | int) -> int:
        """Return the milliseconds of a time that a server reports, at most LONGEST_MS."""
        return min(round(units * self.unit), LONGEST_MS)

    def is_unlimited(self) -> bool:
        """Return True if there is no limit at all."""
        return not (self.total or self.byoyomi or self.increment)


class Clocks:
    """The remaining time of each player, `+` (Black) and `-` (White)."""

    def __init__(self, controls: Mapping[str, TimeControl]) -> None:
        self._controls = controls
        self.left = {color: control.total for color, control in controls.items()}

    def spend(self, color: str, units: Decimal | int) -> int:
        """Subtract the time of a move, given in the server's units, and add the increment; return the time."""
        control = self._controls[color]
        spent = control.milliseconds(units)
        self.left[color] = min(max(self.left[color] + control.increment - spent, 0), LONGEST_MS)
        return spent

    def go_words(self, color: str, margin: int = 0) -> str:
        """Return the clocks as arguments of `go` for the player `color`, less a margin for network delay.

        The player's own control decides between byoyomi and increments: USI has no byoyomi of one player only. btime
        and wtime do not include the increment of the next move, as in Shogidokoro and similar GUIs.
        """
        control = self._controls[color]
        if control.is_unlimited():
            return f"btime 0 wtime 0 byoyomi {UNLIMITED_BYOYOMI}"
        left, byoyomi, increment = self._less_margin(color, margin)
        lefts = {**self.left, color: left}
        words = f"btime {lefts['+']} wtime {lefts['-']}"
        if control.byoyomi or not control.increment:
            words += f" byoyomi {byoyomi}"
        if control.increment:
            increments = {each: other.increment for each, other in self._controls.items()} | {color: increment}
            words += f" binc {increments['+']} winc {increments['-']}"
        return words

    def _less_margin(self, color: str, margin: int) -> tuple[int, int, int]:
        """Return remaining time, byoyomi and increment, less the margin; it is taken from the remaining time first."""
        control, left = self._controls[color], self.left[color]
        lack = max(margin - left, 0)
        return max(left - margin, 0), max(control.byoyomi - lack, 0), max(control.increment - lack, 0)
