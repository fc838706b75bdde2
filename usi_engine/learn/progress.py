"""One line of progress every few seconds: count, positions a second, time left."""

from __future__ import annotations

import time

REPORT_SECONDS = 10.0
POSITIONS = "positions"  # the unit of what counts them alone


class Progress:
    """Counts `unit`s, of which `total` are to be done now and `begun` were done before; 0: `total` is unknown."""

    def __init__(self, unit: str, total: int = 0, begun: int = 0, every: float = REPORT_SECONDS) -> None:
        self.unit, self.total, self.begun, self.every = unit, total, begun, every
        self.done = self.positions = 0
        self._started = self._reported = time.monotonic()

    def add(self, done: int, positions: int, note: str = "") -> bool:
        """Count; print a line, with the note, where the last one is old enough or all is done. Returns whether."""
        self.done += done
        self.positions += positions
        now = time.monotonic()
        due = now - self._reported >= self.every or self.done == self.total
        if due:
            self._reported = now
            print(self.line(now - self._started, note), flush=True)
        return due

    def line(self, seconds: float, note: str = "") -> str:
        """The counts after this time."""
        seconds = max(seconds, 1e-3)
        of_all = f"/{self.begun + self.total}" if self.total else ""
        text = f"{self.begun + self.done}{of_all} {self.unit}, "
        text += f"{self.positions} {POSITIONS}, " if self.unit != POSITIONS else ""
        rate = self.positions / seconds
        text += f"{rate:.{0 if rate >= 10 else 1}f} a second" + (f", {note}" if note else "")
        if self.done < self.total and self.done:
            text += f", {(self.total - self.done) * seconds / self.done / 60:.1f} min left"
        return text
