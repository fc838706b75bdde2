"""Progress of long runs: a bar on a terminal, or one line every few seconds for a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REPORT_SECONDS = 10.0
POSITIONS = "positions"  # the unit of runs that count nothing else


@contextmanager
def progress_bar(total: int, name: str) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error while the block runs; it yields the function to call after each of `total` steps.

    If standard error is not a terminal, or there is nothing to count, nothing is shown.
    """
    if not total or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415  (slow to import; not needed in play)
    from rich.progress import Progress as RichProgress  # noqa: PLC0415

    with RichProgress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(name, total=total)
        yield lambda: shown.advance(task)


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
