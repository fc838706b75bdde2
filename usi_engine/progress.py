"""Progress of long runs: a bar on a terminal, or a line every few seconds for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REPORT_SECONDS = 10.0
POSITIONS = "positions"  # the unit of runs that count nothing else


@contextmanager
def progress_bar(total: int, name: str) -> Iterator[Callable[[], None]]:
    """Show a bar while the block runs, if standard error is a terminal; call what it yields after each step."""
    if not total or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415  (slow to import; not needed in play)
    from rich.progress import Progress as RichProgress  # noqa: PLC0415

    with RichProgress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(name, total=total)
        yield lambda: shown.advance(task)


class Progress:
    """A count of units, such as games: `total` in this run (0 if unknown), after `begun` in earlier runs."""

    def __init__(self, unit: str, total: int = 0, begun: int = 0, every: float = REPORT_SECONDS) -> None:
        self.unit, self.total, self.begun, self.every = unit, total, begun, every
        self.done = self.positions = 0
        self._started = self._reported = time.monotonic()

    def add(self, done: int, positions: int, note: str = "") -> None:
        """Count. Print a line with the note if `every` seconds have passed or all is done."""
        self.done += done
        self.positions += positions
        now = time.monotonic()
        if now - self._reported >= self.every or 0 < self.total == self.done:
            self._reported = now
            print(self.line(now - self._started, note), flush=True)

    def line(self, seconds: float, note: str = "") -> str:
        """Return the line for the counts after this time."""
        seconds = max(seconds, 1e-3)
        of_all = f"/{self.begun + self.total}" if self.total else ""
        text = f"{self.begun + self.done}{of_all} {self.unit}, "
        text += f"{self.positions} {POSITIONS}, " if self.unit != POSITIONS else ""
        rate = self.positions / seconds
        text += f"{rate:.{0 if rate >= 10 else 1}f} a second" + (f", {note}" if note else "")
        if self.done < self.total and self.done:
            text += f", {(self.total - self.done) * seconds / self.done / 60:.1f} min left"
        return text
