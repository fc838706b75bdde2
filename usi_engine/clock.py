"""Time controls, and the clock of a game. All times are in milliseconds; sides are 0 (Black) and 1 (White)."""

import time
from dataclasses import dataclass

from usi_engine.language import _

# Longer times are refused or cut: engines count in 32 bits.
LONGEST_MS = 2**31 - 1


@dataclass(frozen=True)
class TimeControl:
    """Main time, byoyomi and increment of a side, for a game or at the moment; False if its time is not limited."""

    main: int = 0
    byoyomi: int = 0
    increment: int = 0

    def __bool__(self) -> bool:
        return bool(self.main or self.byoyomi or self.increment)

    @property
    def renews(self) -> bool:
        """True if each move brings new time."""
        return bool(self.byoyomi or self.increment)

    @property
    def whole_seconds(self) -> bool:
        """True if the clock seems to count whole seconds."""
        return all(part % 1000 == 0 for part in (self.main, self.byoyomi, self.increment))

    def __str__(self) -> str:
        parts = [_("{seconds:g} s").format(seconds=self.main / 1000)]
        parts += [_("{seconds:g} s byoyomi").format(seconds=self.byoyomi / 1000)] if self.byoyomi else []
        parts += [_("{seconds:g} s a move").format(seconds=self.increment / 1000)] if self.increment else []
        return " + ".join(parts)


class Clock:
    """The clock of a game, which runs for the side to move; False if it limits nobody.

    `controls`: one for both sides, or Black's and White's. `left`: their main time, without the increment that comes
    with the next move.
    """

    def __init__(self, *controls: TimeControl) -> None:
        self.controls = (controls[0], controls[-1])
        self.left = [control.main for control in self.controls]
        self.start()

    def __bool__(self) -> bool:
        return any(self.controls)

    def start(self) -> None:
        """Start the time of a move."""
        self._begun = time.monotonic()

    @property
    def spent(self) -> int:
        """The time since the start of this move."""
        return int((time.monotonic() - self._begun) * 1000)

    def allowed(self, side: int) -> int:
        """Return the longest time of the next move of a side."""
        control = self.controls[side]
        return self.left[side] + control.increment + control.byoyomi

    def spend(self, side: int, milliseconds: int) -> None:
        """Subtract the time of a move, and add its increment."""
        left = self.left[side] + self.controls[side].increment - milliseconds
        self.left[side] = min(max(left, 0), LONGEST_MS)
